"""C as people write it: contexts, callbacks that are known, buffers on the stack, volatile, old habits."""

from native_differential import assert_as_gcc


def test_contexts_with_pointers() -> None:
    assert_as_gcc(
        """
        typedef struct { const unsigned char *in; unsigned char *out; int at, left; } stream;
        static int get(stream *s) { return s->left-- > 0 ? s->in[s->at++] : -1; }
        static void put(stream *s, int c) { *s->out++ = (unsigned char)c; }
        int f(unsigned char in[16], unsigned char out[32]) {
            stream s = {in, out, 0, 16};
            int c, n = 0;
            while ((c = get(&s)) >= 0) { put(&s, c ^ 0x20); if (c & 1) { put(&s, n); n++; } }
            return (int)(s.out - out) * 100 + n;
        }
        """
    )


def test_volatile_register_restrict_and_inline() -> None:
    assert_as_gcc(
        """
        static inline __attribute__((always_inline)) int twice(register int x) { return x + x; }
        int f(int *restrict a, const volatile int b[4], int n) {
        #pragma HLS interface ap_memory port=a depth=4
            volatile int t = n; register int s = 0;
            for (int i = 0; i < 4; i++) { t += b[i]; a[i] = twice(t); s ^= a[i]; }
            return s + t;
        }
        """
    )


def test_arrays_sized_by_constants_of_the_program() -> None:
    assert_as_gcc(
        """
        int f(int x) {
            const int n = 8, m = 3;
            int a[n], g[m][n]; int s = 0;
            for (int i = 0; i < n; i++) { a[i] = x * i; for (int j = 0; j < m; j++) g[j][i] = a[i] - j; }
            for (int i = 0; i < n; i++) s = s * 3 + a[i] + g[i % m][n - 1 - i];
            return s;
        }
        """
    )


def test_arrays_sized_by_parameters_of_inner_functions() -> None:
    assert_as_gcc(
        """
        static int trace(int n, int a[n][n]) { int s = 0; for (int i = 0; i < n; i++) s += a[i][i]; return s; }
        int f(int a[5][5], int b[3][3]) { return trace(5, a) * 3 - trace(3, b); }
        """
    )


def test_callbacks_that_are_known() -> None:
    assert_as_gcc(
        """
        typedef int (*less_t)(int, int);
        static int up(int a, int b) { return a < b; }
        static int down(int a, int b) { return a > b; }
        static void sort(int *v, int n, less_t less) {
            for (int i = 1; i < n; i++) for (int j = i; j > 0 && less(v[j], v[j - 1]); j--) {
                int t = v[j]; v[j] = v[j - 1]; v[j - 1] = t;
            }
        }
        void f(int a[6], int b[6]) { sort(a, 6, up); sort(b, 6, down); }
        """
    )


def test_structures_by_value_at_the_top() -> None:
    assert_as_gcc(
        """
        struct small { short a; int b; };
        int f(struct small s, char k) { s.b += k; return s.a * s.b; }
        """
    )
    assert_as_gcc(
        """
        struct pair { int a; long long b; unsigned char c[3]; };
        long long f(int x, struct pair s) { s.c[1] ^= x; return s.a + s.b * 3 + s.c[x & 1] + s.c[1]; }
        """
    )
    assert_as_gcc(
        """
        struct wide { int v[5]; short w; };
        int f(struct wide s, int i) { s.v[i & 3] = 7; int t = s.w; for (int k = 0; k < 5; k++) t += s.v[k] * k; return t; }
        """
    )


def test_structures_as_result_of_the_top() -> None:
    assert_as_gcc(
        """
        struct r { int a, b; };
        struct r f(int x) { struct r r = {x * 3, x - 1}; return r; }
        """
    )
    assert_as_gcc(
        """
        struct r { long long a; int b; };
        struct r f(int x) { struct r r; __builtin_memset(&r, 0, sizeof r); r.a = x * 3LL; r.b = x; return r; }
        """
    )


def test_declared_first_and_defined_later() -> None:
    assert_as_gcc(
        """
        extern const int weights[4]; int helper(int);
        int f(int a[4]) { int s = 0; for (int i = 0; i < 4; i++) s += helper(a[i]) * weights[i]; return s; }
        const int weights[4] = {1, -2, 3, -4};
        int helper(int x) { return x ^ 0x55; }
        """
    )


def test_state_machines() -> None:
    assert_as_gcc(
        """
        enum state { IDLE, NAME, VALUE, FAIL };
        static enum state state; static unsigned total; static unsigned char depth;
        int f(unsigned char c) {
            switch (state) {
            case IDLE: if (c == '<') state = NAME; else if (c > 200) state = FAIL; break;
            case NAME: if (c == '=') { state = VALUE; total = 0; } else if (c == '<') depth++; break;
            case VALUE: if (c >= '0' && c <= '9') total = total * 10 + (c - '0'); else { state = IDLE; return (int)total; } break;
            default: state = IDLE; depth = 0; break;
            }
            return -(int)state - depth;
        }
        """,
        calls=200,
        ranges={"c": (48, 62)},
    )


def test_tables_of_structures_with_strings() -> None:
    assert_as_gcc(
        """
        struct op { const char *name; unsigned char code; signed char arity; };
        static const struct op ops[] = {{"add", 1, 2}, {"neg", 2, 1}, {"select", 9, 3}, {0, 0, 0}};
        static int equal(const char *a, const char *b) { while (*a && *a == *b) { a++; b++; } return *a == *b; }
        int f(char text[8], unsigned char pick) {
            const char *known = ops[pick % 3].name;
            int i; for (i = 0; i < 7 && known[i]; i++) if (pick & 8) text[i] = known[i];
            text[i] = 0;
            for (const struct op *o = ops; o->name; o++) if (equal(o->name, text)) return o->code * 10 + o->arity;
            return -1;
        }
        """,
        calls=40,
    )


def test_matrices_through_pointers_to_rows() -> None:
    assert_as_gcc(
        """
        #define N 4
        typedef int matrix[N][N];
        static void multiply(int (*c)[N], const int (*a)[N], const int (*b)[N]) {
            for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
                int s = 0; for (int k = 0; k < N; k++) s += a[i][k] * b[k][j];
                c[i][j] = s;
            }
        }
        static void power(matrix r, matrix a, unsigned n) {
            matrix t, *src = (matrix *)a; int (*dst)[N] = r;
            for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { dst[i][j] = i == j; t[i][j] = (*src)[i][j]; }
            for (; n; n >>= 1) { matrix u; if (n & 1) { multiply(u, dst, t); __builtin_memcpy(dst, u, sizeof u); } multiply(u, t, t); __builtin_memcpy(t, u, sizeof t); }
        }
        void f(matrix r, matrix a, unsigned char n) { power(r, a, n & 7); }
        """
    )


def test_bit_streams_of_64_bits() -> None:
    assert_as_gcc(
        """
        typedef unsigned long long u64; typedef struct { u64 acc; int bits; unsigned char *p; } writer;
        static void write_bits(writer *w, unsigned v, int n) {
            w->acc |= (u64)(v & ((1u << n) - 1)) << w->bits; w->bits += n;
            while (w->bits >= 8) { *w->p++ = (unsigned char)w->acc; w->acc >>= 8; w->bits -= 8; }
        }
        int f(unsigned short v[10], unsigned char out[32]) {
            writer w = {0, 0, out};
            for (int i = 0; i < 10; i++) write_bits(&w, v[i], 1 + (v[i] & 15));
            write_bits(&w, 0, 7);
            return (int)(w.p - out);
        }
        """
    )


def test_queues_and_stacks_in_static_arrays() -> None:
    assert_as_gcc(
        """
        static struct { short x, y; } queue[16]; static unsigned head, tail;
        static unsigned char seen[6][6];
        static void push(int x, int y) {
            if (x < 0 || y < 0 || x >= 6 || y >= 6 || seen[y][x]) return;
            seen[y][x] = 1; queue[tail].x = (short)x; queue[tail++ & 15].y = (short)y; tail &= 15;
        }
        int f(unsigned char wall[6][6]) {
            int n = 0; head = tail = 0;
            for (int y = 0; y < 6; y++) for (int x = 0; x < 6; x++) seen[y][x] = wall[y][x] > 180;
            push(0, 0);
            while (head != tail) {
                int x = queue[head].x, y = queue[head].y; head = (head + 1) & 15; n++;
                push(x + 1, y); push(x - 1, y); push(x, y + 1); push(x, y - 1);
            }
            return n;
        }
        """
    )


def test_pointer_casts_between_integers() -> None:
    assert_as_gcc(
        """
        #include <stdint.h>
        static uint32_t load32(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }
        static void store16(uint8_t *p, uint16_t v) { *(uint16_t *)p = v; }
        int f(uint8_t data[16], unsigned i) {
            uintptr_t base = (uintptr_t)data, at = base + (i & 7);
            uint8_t *p = (uint8_t *)at; void *v = p; uint8_t *q = v;
            *q ^= 0x80; store16(data + 8, (uint16_t)i);
            return (int)load32(data + (i & 3)) + (int)(at - base);
        }
        """
    )


def test_deep_nesting_and_many_locals() -> None:
    assert_as_gcc(
        """
        int f(int a, int b, int c) {
            int r = 0;
            for (int i = 0; i < 3; i++) {
                if (a > b) { if (b > c) { if (a & 1) r++; else r--; } else { switch (b & 3) { case 0: r += 2; break; case 3: goto out; default: r ^= c; } } }
                else { do { r += a & 7; if (r > 40) break; a++; } while (a < b && a & 3); }
                { int t = a; a = b; b = c; c = t + i; }
            out:;
            }
            return r + a - b + c;
        }
        """,
        calls=60,
    )
