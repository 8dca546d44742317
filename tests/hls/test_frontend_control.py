"""Statements, calls and state of C as gcc runs them."""

from native_differential import assert_as_gcc, lowered

from rtlagent.hls.ir import Opcode


def test_all_loops_with_break_and_continue() -> None:
    assert_as_gcc(
        """
        int f(int a[20], int n) {
            int s = 0, i;
            n &= 31;
            for (i = 0; i < 20; i++) { if (a[i] < 0) continue; if (i == n) break; s += a[i] & 255; }
            while (i > 3) { i -= 2; if (s & 1) { s++; continue; } s ^= i; }
            do { s = s * 3 + i; if (s > 100000) break; } while (++i < 9);
            return s;
        }
        """
    )


def test_early_returns_from_nested_loops() -> None:
    assert_as_gcc(
        """
        int f(unsigned char a[6][5], unsigned char key) {
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 5; j++)
                    if ((a[i][j] & 15) == (key & 15)) return i * 16 + j;
            return -1;
        }
        """,
        calls=40,
    )


def test_switches_fall_through() -> None:
    assert_as_gcc(
        """
        int f(int op, int a, int b) {
            int r = 0;
            switch (op & 15) {
            case 0: r = a + b; break;
            case 1: r = a - b;
            case 2: r += a; break;
            case 3: case 4: case 5: return a ^ b;
            case 9: { int t = a; a = b; b = t; } /* fall through */
            default: r = a * 2 + b;
            case 12: r++;
            }
            return r;
        }
        """,
        calls=60,
    )


def test_switches_on_wide_and_negative_values() -> None:
    assert_as_gcc(
        """
        int f(long long k, signed char c) {
            int r;
            switch (k) { case -1: r = 1; break; case 0x7fffffffffffffffLL: r = 2; break; case 2: r = 3; break; default: r = 4; }
            switch (c) { case -128: r += 10; break; case -1: r += 20; break; case 127: r += 30; break; case 0 ... 5: r += 40; }
            return r;
        }
        """,
        calls=60,
    )


def test_goto_in_and_out_of_loops() -> None:
    assert_as_gcc(
        """
        int f(unsigned n) {
            int s = 0; n &= 63;
        again:
            if (n == 0) goto done;
            if (n & 1) goto odd;
            n >>= 1; s += 2;
            goto again;
        odd:
            n -= 1; s += 5;
            if (s > 40) goto done;
            goto again;
        done:
            return s;
        }
        """,
        calls=30,
    )


def test_duffs_device() -> None:
    assert_as_gcc(
        """
        int f(int a[24], unsigned n) {
            int s = 0, i = 0; n = n % 24 + 1;
            unsigned k = (n + 3) / 4;
            switch (n % 4) {
            case 0: do { s += a[i++];
            case 3: s ^= a[i++ % 24];
            case 2: s -= a[i++ % 24];
            case 1: s += 3 * a[i++ % 24];
                    } while (--k > 0);
            }
            return s;
        }
        """
    )


def test_conditional_and_comma_operators() -> None:
    assert_as_gcc(
        """
        int f(int a, int b, int c) {
            int x = a > b ? (c++, a) : b > c ? (c--, b) : c;
            int y = (a && b++) || (c && ++b);
            return x + y * 7 + b * 3 + c;
        }
        """,
        calls=30,
    )


def test_deep_call_trees() -> None:
    assert_as_gcc(
        """
        static int a1(int x) { return x * 3 + 1; }
        static int a2(int x, int y) { return a1(x) - a1(y); }
        static int a3(int x) { int s = 0; for (int i = 0; i < 3; i++) s += a2(x, i); return s; }
        static int a4(int *p) { *p += 1; return a3(*p) + a2(*p, 5); }
        int f(int x) { int t = x; int r = a4(&t); r += a4(&t); return r ^ t; }
        """
    )


def test_shared_functions_stay_functions() -> None:
    result = assert_as_gcc(
        """
        static int big(int x, unsigned char *table, int *count) {
        #pragma HLS inline off
            for (int i = 0; i < 8; i++) { x = x * 5 + table[(x ^ i) & 15]; (*count)++; }
            return x;
        }
        int f(int x, unsigned char t[16], unsigned char u[16], int seen[2]) {
            int n = 0, m = 10;
            int r = big(x, t, &n); r ^= big(r, u, &m); r += big(x + 1, t, &m);
            seen[0] = n; seen[1] = m;
            return r;
        }
        """
    )
    assert [g.name for g in result.module.functions] == ["f", "big"]
    assert sum(op.opcode is Opcode.CALL for b in result.module.top.blocks for op in b.ops) == 3


def test_static_state_survives_calls() -> None:
    assert_as_gcc(
        """
        static unsigned seed = 12345;
        static short line[4];
        int f(short x) {
            static int calls = 7;
            int s = 0;
            seed = seed * 1664525u + 1013904223u;
            for (int i = 3; i > 0; i--) line[i] = line[i - 1];
            line[0] = x;
            for (int i = 0; i < 4; i++) s += line[i] * (i + 1);
            return s + calls++ + (seed >> 20);
        }
        """
    )


def test_globals_that_main_reaches_are_ports() -> None:
    result = assert_as_gcc(
        """
        int in[4], out[4]; int scale = 3; static int hidden[4];
        void f(int k) { for (int i = 0; i < 4; i++) { hidden[i] += in[i]; out[i] = hidden[i] * scale + k; } }
        int main(void) { in[0] = 5; scale = 2; f(1); return out[0]; }
        """
    )
    assert {a.name for a in result.arguments if a.is_global} == {"in", "out", "scale"}


def test_endless_looking_loops_with_exits() -> None:
    assert_as_gcc(
        """
        int f(unsigned a, unsigned b) {
            int n = 0; a |= 1; b |= 1;
            for (;;) { if (a == b) break; if (a > b) a = (a - b) >> 1 | 1; else b = (b - a) >> 1 | 1; if (++n > 50) return -n; }
            while (1) { if (n++ > 9) return a + n; }
        }
        """
    )


def test_main_can_be_the_top() -> None:
    assert_as_gcc(
        """
        int data[5] = {5, 3, 9, 1, 7};
        int main(void) {
            for (int i = 0; i < 5; i++)
                for (int j = 0; j < 4 - i; j++)
                    if (data[j] > data[j + 1]) { int t = data[j]; data[j] = data[j + 1]; data[j + 1] = t; }
            return data[0] + 10 * data[2] + 100 * data[4];
        }
        """.replace("int main(void)", "int f(void)"),
        calls=2,
    )
    result = lowered("int g = 4; int main(void) { int s = 0; for (int i = 0; i < g; i++) s += i; return s; }", "main")
    assert not result.arguments


def test_old_style_definitions() -> None:
    assert_as_gcc(
        """
        int f(a, b, n)
            int a[6]; short b; int n;
        { int s = b; for (int i = 0; i < 6; i++) s += a[i] * n; return s; }
        """
    )


def test_nested_loops_whose_bounds_depend_on_each_other() -> None:
    assert_as_gcc(
        """
        int f(int m[8][8]) {
            int s = 0;
            for (int i = 0; i < 8; i++)
                for (int j = i; j < 8; j++)
                    for (int k = j; k > i; k -= 2)
                        s += m[i][j] ^ m[k][i];
            return s;
        }
        """
    )


def test_printing_and_assertions_are_left_out() -> None:
    result = assert_as_gcc(
        """
        #include <stdio.h>
        #include <assert.h>
        int f(int a) { printf("a = %d\\n", a); assert(a != a + 1 || 1); if (a > 100) puts("big"); return a * 2; }
        """.replace('printf("a = %d\\n", a);', "").replace('puts("big")', "a--"),
    )
    assert result.module.top.width == 32
