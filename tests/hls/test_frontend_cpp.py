"""C++: references, classes, templates."""

from native_differential import assert_as_gcc


def test_references() -> None:
    assert_as_gcc(
        """
        static void step(int &x, int by) { x += by; }
        int f(int a[4], int &out, const short &in, int (&grid)[2][3]) {
            int s = 0;
            for (int i = 0; i < 4; i++) { step(a[i], in); s += a[i]; }
            for (auto &row : grid) for (int &cell : row) cell ^= s;
            step(out, s);
            return s + grid[1][2];
        }
        """,
        language="c++",
    )


def test_templates_and_classes() -> None:
    assert_as_gcc(
        """
        template <typename T, int N> struct Ring {
            T item[N]; unsigned at;
            Ring() : at(0) { for (int i = 0; i < N; i++) item[i] = 0; }
            void push(T x) { item[at] = x; at = (at + 1) % N; }
            T operator[](int back) const { return item[(at + N - 1 - back) % N]; }
        };
        template <int N> static int taps(const Ring<short, N> &r) { int s = 0; for (int i = 0; i < N; i++) s += r[i] * (i + 1); return s; }
        int f(short x[8], int y[8]) {
            Ring<short, 4> ring;
            for (int i = 0; i < 8; i++) { ring.push(x[i]); y[i] = taps(ring); }
            return ring[0];
        }
        """,
        language="c++",
    )


def test_operators_namespaces_and_overloads() -> None:
    assert_as_gcc(
        """
        namespace math {
            struct complex { int re, im; complex(int r = 0, int i = 0) : re(r), im(i) {} };
            inline complex operator*(complex a, complex b) { return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
            inline complex operator+(complex a, const complex &b) { a.re += b.re; a.im += b.im; return a; }
            inline int norm(complex a) { return a.re * a.re + a.im * a.im; }
            inline int norm(int a) { return a < 0 ? -a : a; }
        }
        int f(int re[4], int im[4], bool flip) {
            math::complex s(1, 1);
            for (int i = 0; i < 4; i++) { math::complex c(re[i] & 15, im[i] & 15); s = flip ? s * c : s + c * s; }
            constexpr int bias = 3 * 7; auto n = math::norm(s); using math::norm;
            return n + norm(bias - re[0]);
        }
        """,
        language="c++",
        ranges={"flip": (0, 1)},
    )


def test_inheritance_without_virtual_functions() -> None:
    assert_as_gcc(
        """
        struct Base { int k; int scaled(int x) const { return x * k; } };
        struct Shifted : Base { short by; int operator()(int x) const { return scaled(x) + by; } };
        struct State { Shifted s; unsigned char seen[5]; };
        int f(State &state, int x) {
            state.s.k ^= 3; state.seen[x & 3]++;
            return state.s(x) + state.seen[2];
        }
        """,
        language="c++",
        calls=20,
    )


def test_lambdas() -> None:
    assert_as_gcc(
        """
        template <typename F> static int apply(const int *v, int n, F g) { int s = 0; for (int i = 0; i < n; i++) s = g(s, v[i]); return s; }
        int f(int a[6], int k) {
            int calls = 0;
            auto mix = [&calls, k](int s, int x) { calls++; return s * 3 + (x ^ k); };
            return apply(a, 6, mix) + apply(a, 3, [](int s, int x) { return s > x ? s : x; }) + calls;
        }
        """,
        language="c++",
    )
