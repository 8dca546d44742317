"""Integer arithmetic of C as gcc computes it."""

import pytest
from native_differential import assert_as_gcc, lowered

from rtlagent.hls.interpret import interpret

TYPES = (
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long long",
    "unsigned long long",
)


@pytest.mark.parametrize("kind", TYPES)
def test_every_operator_on_every_type(kind: str) -> None:
    assert_as_gcc(
        f"""
        typedef {kind} T;
        void f(T a, T b, long long out[16]) {{
            T d = b == 0 ? 1 : b;
            if (d == (T)-1) d = 3;
            int s = b & (sizeof(T) * 8 - 1);
            out[0] = (T)(a + b); out[1] = (T)(a - b); out[2] = (T)(a * b);
            out[3] = a / d; out[4] = a % d;
            out[5] = a & b; out[6] = a | b; out[7] = a ^ b; out[8] = ~a;
            out[9] = a < b; out[10] = a <= b; out[11] = a == b; out[12] = -a;
            out[13] = a >> s; out[14] = (T)((unsigned long long)a << s);
            out[15] = !a + (a && b) * 2 + (a || b) * 4;
        }}
        """,
        calls=30,
    )


@pytest.mark.parametrize(
    ("wide", "narrow"), [("long long", "signed char"), ("unsigned", "short"), ("int", "unsigned char")]
)
def test_conversions_follow_the_usual_promotions(wide: str, narrow: str) -> None:
    assert_as_gcc(
        f"""
        void f({wide} a, {narrow} b, long long out[8]) {{
            out[0] = a + b; out[1] = ({narrow})a; out[2] = a < b; out[3] = ({narrow})(a * b);
            out[4] = b << 3; out[5] = (unsigned short)b; out[6] = b > 200u; out[7] = a > b ? a : b;
        }}
        """,
        calls=30,
    )


def test_compound_assignments_narrow_their_result() -> None:
    assert_as_gcc(
        """
        int f(unsigned char a, short b, int c) {
            a += c; b -= a; a <<= 3; b >>= 2; c ^= b; a |= 0x11; b &= 0x7ff; c *= a; a++; --b; b = -b;
            return a + b * 3 + c++ - --c;
        }
        """
    )


def test_constant_divisors_round_towards_zero() -> None:
    assert_as_gcc(
        """
        void f(int a, long long b, unsigned c, int out[8]) {
            out[0] = a / 7; out[1] = a % 7; out[2] = a / -8; out[3] = a % 8;
            out[4] = b / 1000; out[5] = b % 1000003; out[6] = c / 10; out[7] = c % 10;
        }
        """,
        calls=30,
    )


def test_wide_products_keep_all_bits() -> None:
    assert_as_gcc(
        """
        unsigned long long f(unsigned a, unsigned b, int c, int d) {
            unsigned long long p = (unsigned long long)a * b;
            long long q = (long long)c * d;
            return p ^ (q >> 7) ^ (unsigned long long)((__int128)q * d >> 64);
        }
        """
    )


def test_bit_counting_and_swapping_builtins() -> None:
    assert_as_gcc(
        """
        void f(unsigned a, unsigned long long b, int out[12]) {
            out[0] = __builtin_popcount(a); out[1] = __builtin_popcountll(b);
            out[2] = __builtin_clz(a | 1); out[3] = __builtin_ctz(a | 0x80000000u);
            out[4] = __builtin_bswap32(a); out[5] = __builtin_bswap64(b) >> 32; out[6] = __builtin_bswap16(a);
            out[7] = __builtin_parity(a); out[8] = __builtin_ffs(a); out[9] = __builtin_clzll(b | 1);
            out[10] = __builtin_abs((int)a == (-2147483647 - 1) ? 0 : (int)a); out[11] = __builtin_expect(a > 5, 1);
        }
        """,
        calls=40,
    )


def test_checked_arithmetic_builtins() -> None:
    assert_as_gcc(
        """
        int f(int a, int b, unsigned c, unsigned d) {
            int r, s; unsigned t;
            int n = __builtin_add_overflow(a, b, &r);
            n += 2 * __builtin_mul_overflow(a, b, &s);
            n += 4 * __builtin_sub_overflow(c, d, &t);
            return n ^ r ^ s ^ (int)t;
        }
        """,
        calls=40,
    )


def test_rotations() -> None:
    assert_as_gcc(
        """
        unsigned f(unsigned a, int n, unsigned char b) {
            n &= 31;
            unsigned char c = (unsigned char)(b << 3 | b >> 5);
            return (a << n | a >> (-n & 31)) + (a << 7 | a >> 25) + c;
        }
        """
    )


def test_bool_is_zero_or_one() -> None:
    assert_as_gcc(
        """
        #include <stdbool.h>
        bool f(int a, bool b, bool c[4]) { bool r = a; c[1] = a & 6; c[2] = !c[0]; c[3] = b ^ r; return r && !b; }
        """,
        ranges={"b": (0, 1), "c": (0, 1)},
    )


def test_characters_and_enumerations() -> None:
    assert_as_gcc(
        """
        enum colour { RED = 3, GREEN, BLUE = -2 };
        int f(char c, enum colour k) {
            const char *names = "rgb?";
            if (c >= 'a' && c <= 'z') c = c - 'a' + 'A';
            return c * 16 + (k == GREEN) + (k == BLUE ? names[2] : names[0]);
        }
        """,
        ranges={"k": (-2, 4)},
    )


def test_floating_point_constants_fold() -> None:
    assert_as_gcc(
        """
        #define SCALE(x) ((int)((x) * 65536.0 + 0.5))
        static const int table[3] = { SCALE(0.5), SCALE(1.25), (int)(3.99f) };
        int f(unsigned i) { const double k = 2.5; return table[i % 3] + (int)(k * 4) + SCALE(0.707106781); }
        """
    )


def test_wide_integers() -> None:
    assert_as_gcc(
        """
        void f(unsigned long long a, long long b, unsigned long long out[4]) {
            unsigned __int128 p = (unsigned __int128)a * (unsigned long long)b;
            __int128 s = (__int128)b * b - (__int128)a;
            out[0] = p >> 64; out[1] = p; out[2] = s >> 3; out[3] = (p + (unsigned __int128)s) >> 17;
        }
        """
    )


def test_results_of_every_width() -> None:
    for kind in TYPES:
        assert_as_gcc(f"{kind} f(int a, {kind} b) {{ return ({kind})(a * 3 + b); }}", calls=5)


def test_saturating_builtins() -> None:
    found = lowered(
        """
        void f(signed char a, signed char b, unsigned c, unsigned d, int out[4]) {
            out[0] = __builtin_elementwise_add_sat(a, b); out[1] = __builtin_elementwise_sub_sat(a, b);
            out[2] = (int)__builtin_elementwise_add_sat(c, d); out[3] = (int)__builtin_elementwise_sub_sat(c, d);
        }
        """
    )
    for a, b in ((100, 100), (-100, 100), (5, -7), (-128, -128)):
        for c, d in ((0xFFFFFFFF, 2), (3, 4), (9, 4)):
            memories = {"out": [0] * 4}
            interpret(found.module, {"a": a, "b": b, "c": c, "d": d}, memories)
            want = [max(-128, min(127, a + b)), max(-128, min(127, a - b)), min(0xFFFFFFFF, c + d), max(0, c - d)]
            assert memories["out"] == [x & 0xFFFFFFFF for x in want]


def test_atomic_accesses_are_plain_ones() -> None:
    assert_as_gcc(
        """
        static _Atomic int counter; static int plain;
        int f(int x) {
            int y = counter;
            counter = y + x;
            __atomic_store_n(&plain, y ^ x, __ATOMIC_SEQ_CST);
            return __atomic_load_n(&plain, __ATOMIC_ACQUIRE) + counter;
        }
        """
    )


def test_traps_and_hints_are_nothing() -> None:
    assert_as_gcc(
        """
        int f(int x) {
            if (x == 12345) __builtin_trap();
            if (__builtin_constant_p(x)) return 1;
            __builtin_assume_aligned((void *)0, 4);
            return __builtin_expect(x > 3, 1) ? x : -x;
        }
        """
    )
