"""Pointers that resolve to known arrays, as gcc runs them."""

import pytest
from native_differential import assert_as_gcc

from rtlagent.hls.ir import MemoryKind


def test_walking_pointers() -> None:
    assert_as_gcc(
        """
        int f(int a[10], short b[10]) {
            int s = 0; int *p = a; short *q = b + 9;
            while (p < a + 10) s += *p++ * *q--;
            for (p = &a[9]; p >= a; p--) s ^= *p;
            for (q = b; q != &b[10]; ++q) *q = (short)(*q + 1);
            return s;
        }
        """
    )


def test_pointer_difference_and_comparison() -> None:
    assert_as_gcc(
        """
        int f(int a[16], int key) {
            int *lo = a, *hi = a + 16;
            while (hi - lo > 1) { int *mid = lo + (hi - lo) / 2; if ((*mid & 7) > (key & 7)) hi = mid; else lo = mid; }
            return (int)(lo - a) * 100 + (int)(hi - a) + (lo < hi) + (lo == a);
        }
        """
    )


def test_a_pointer_to_one_of_several_arrays() -> None:
    assert_as_gcc(
        """
        int f(int a[8], int b[8], unsigned char sel, int k) {
            int local[8];
            for (int i = 0; i < 8; i++) local[i] = i * k;
            int *p = sel & 1 ? a : sel & 2 ? b : local;
            int *q = sel & 4 ? p + 1 : &local[2];
            p[3] = q[2] + 1; q[0] ^= 5; *(p + (k & 7)) -= 2;
            return local[3] + local[2] + p[3] + (p == q) * 64;
        }
        """,
        calls=40,
    )


def test_ping_pong_buffers() -> None:
    assert_as_gcc(
        """
        void f(int data[8]) {
            int buffer[8]; int *src = data, *dst = buffer;
            for (int w = 1; w < 8; w *= 2) {
                for (int i = 0; i < 8; i++) dst[i] = src[i] + src[i ^ w];
                int *t = src; src = dst; dst = t;
            }
            for (int i = 0; i < 8; i++) data[i] = src[i];
        }
        """
    )


def test_pointers_to_rows() -> None:
    result = assert_as_gcc(
        """
        static int dot(const int *x, const int *y, int n) { int s = 0; for (int i = 0; i < n; i++) s += x[i] * y[i]; return s; }
        void f(int m[4][6], int v[6], int out[4]) {
            for (int i = 0; i < 4; i++) { int *row = m[i]; out[i] = dot(row, v, 6); row[0] = i; }
            for (int (*r)[6] = m; r < m + 4; r++) (*r)[5] ^= 3;
        }
        """
    )
    assert {m.name for m in result.module.memories if m.kind is MemoryKind.PARAM} == {"m", "v", "out"}


def test_rows_of_matrices_stay_dimensions() -> None:
    result = assert_as_gcc(
        """
        static void add(int row[6], int k) { for (int j = 0; j < 6; j++) row[j] += k; }
        void f(int m[4][6]) { for (int i = 0; i < 4; i++) add(m[i], i); }
        """
    )
    assert next(m for m in result.module.memories if m.name == "m").dims == (4, 6)


def test_walks_across_rows() -> None:
    assert_as_gcc(
        """
        int f(int m[4][6]) {
            int s = 0, *p = &m[0][0], *q = (int *)m;
            for (int i = 0; i < 24; i++) s = s * 3 + p[i];
            for (int i = 0; i < 24; i += 5) q[i] = i;
            for (int *r = m[0]; r < m[0] + 24; r++) s ^= *r;
            return s;
        }
        """
    )


def test_neighbours_above_and_below() -> None:
    assert_as_gcc(
        """
        #define W 6
        void f(unsigned char img[5][W], unsigned char out[5][W]) {
            for (int y = 1; y < 4; y++)
                for (int x = 1; x < W - 1; x++) {
                    unsigned char *p = &img[y][x];
                    out[y][x] = (unsigned char)(p[-W - 1] + p[-W] + p[W + 1] - p[1] + p[-1]);
                }
        }
        """
    )


def test_out_parameters() -> None:
    assert_as_gcc(
        """
        static void divide(int a, int b, int *q, int *r) { *q = a / b; *r = a % b; }
        static void swap(int *x, int *y) { int t = *x; *x = *y; *y = t; }
        void f(int a, int *quotient, int *remainder) {
            int b = 13;
            divide(a, b, quotient, remainder);
            if (*quotient < *remainder) swap(quotient, remainder);
        }
        """
    )


def test_pointers_in_arrays() -> None:
    assert_as_gcc(
        """
        int f(int a[4], int b[4], int c[4], unsigned n) {
            int *rows[3] = {a, b, c}; int s = 0;
            for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) s = s * 5 + rows[(i + n) % 3][j];
            rows[n % 3] = rows[(n + 1) % 3];
            rows[0][2] = s; *rows[1] += 1;
            return s;
        }
        """,
        calls=20,
    )


def test_constant_tables_of_pointers() -> None:
    assert_as_gcc(
        """
        static const int small[2] = {1, 2}, large[3] = {10, 20, 30};
        static const int *const tables[] = {small, large, &large[1]};
        static const char *const names[] = {"zero", "one", "two", "three"};
        int f(unsigned i, unsigned j) { return tables[i % 3][j % 2] + names[i % 4][j % 3]; }
        """,
        calls=20,
    )


def test_pointers_to_pointers() -> None:
    assert_as_gcc(
        """
        static int x = 1, y = 2, *px = &x, *py = &y, **pp = &px, ***ppp = &pp;
        int f(int k) {
            ***ppp += k;
            if (k & 1) pp = &py; else *pp = &y;
            **pp ^= 12;
            if (k & 2) *ppp = &px;
            return x * 31 + y + (px == py) * 1000 + (*pp == &y) * 2000;
        }
        """,
        calls=30,
    )


def test_null_pointers() -> None:
    assert_as_gcc(
        """
        #include <stddef.h>
        static int *find(int *a, int n, int key) {
            for (int i = 0; i < n; i++) if ((a[i] & 15) == key) return &a[i];
            return NULL;
        }
        int f(int a[8], unsigned char k) {
            int *p = find(a, 8, k & 15), *q = 0;
            if (!p) return -1;
            if (*p > 0) q = p;
            return (int)(p - a) + (q ? *q & 255 : 1000);
        }
        """,
        calls=40,
    )


def test_linked_lists_in_arrays() -> None:
    assert_as_gcc(
        """
        struct node { int value; struct node *next; };
        static struct node pool[8];
        int f(int a[8]) {
            struct node *head = 0; int s = 0;
            for (int i = 0; i < 8; i++) {
                struct node *n = &pool[i], **at = &head;
                n->value = a[i];
                while (*at && (*at)->value < n->value) at = &(*at)->next;
                n->next = *at; *at = n;
            }
            for (struct node *p = head; p; p = p->next) s = s * 7 + p->value;
            return s;
        }
        """
    )


def test_pointers_passed_to_shared_functions() -> None:
    assert_as_gcc(
        """
        static int sum(const int *p, int n) {
        #pragma HLS inline off
            int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s;
        }
        static int *later(int *p, int by) {
        #pragma HLS inline off
            return p + by;
        }
        int f(int a[10], int b[5]) { *later(a, 3) = 7; return sum(a, 10) * 3 + sum(b + 1, 3) + sum(later(a, 6), 4); }
        """
    )


def test_bytes_of_words() -> None:
    assert_as_gcc(
        """
        unsigned f(unsigned w[4], unsigned char bytes[8]) {
            unsigned char *p = (unsigned char *)w; unsigned s = 0;
            for (int i = 0; i < 16; i++) s = s * 31 + p[i];
            p[5] = 0x5a; p[15] ^= s;
            unsigned *q = (unsigned *)bytes; q[1] += q[0];
            return s ^ w[1] ^ *(unsigned short *)&bytes[2];
        }
        """
    )


@pytest.mark.parametrize("size", ["sizeof a", "24", "5", "n & 15"])
def test_memory_functions(size: str) -> None:
    assert_as_gcc(
        f"""
        #include <string.h>
        void f(int a[6], int b[6], unsigned char c[24], unsigned n) {{
            memcpy(b, a, {size}); memset(c, 0x5a, {size}); memmove(c + 2, c + 1, 7);
            memset(a, 0, sizeof(int) * 3); memcpy(c + 8, b, 12); memset(a + 4, n, 8);
        }}
        """
    )


def test_address_of_scalars() -> None:
    assert_as_gcc(
        """
        int f(int a, int b, unsigned char s) {
            int x = a, y = b, *p = s & 1 ? &x : &y, *q = &x; int *const *pp = s & 2 ? &p : (int *const *)&q;
            *p += 3; **pp *= 2;
            return x * 17 + y;
        }
        """,
        calls=20,
    )


def test_strings() -> None:
    assert_as_gcc(
        """
        static int length(const char *s) { const char *p = s; while (*p) p++; return (int)(p - s); }
        static int same(const char *a, const char *b) { while (*a && *a == *b) a++, b++; return *a == *b; }
        int f(char text[8], unsigned char k) {
            text[7] = 0;
            static const char *words[] = {"alpha", "be", ""};
            return length(text) + length(words[k % 3]) * 10 + same(words[k % 3], "be") * 100;
        }
        """,
        calls=20,
    )


def test_plain_pointer_parameters_with_a_depth() -> None:
    assert_as_gcc(
        """
        void f(int *a, const short *b, int n) {
        #pragma HLS interface ap_memory port=a depth=12
        #pragma HLS interface mode=ap_memory port=b depth=12
            n &= 7;
            for (int i = 0; i <= n; i++) a[i + 4] += b[i];
        }
        """
    )


def test_extents_from_the_callers() -> None:
    result = assert_as_gcc(
        """
        #define N 9
        void f(int *a, int n) { for (int i = 0; i < N; i++) a[i] += n; }
        int buffer[N];
        int main(void) { f(buffer, 3); return buffer[1]; }
        """
    )
    assert next(m for m in result.module.memories if m.name == "a").dims == (9,)


def test_extents_from_macros_and_types() -> None:
    assert_as_gcc(
        """
        #define ROWS (2 + 1)
        enum { COLUMNS = 4 };
        typedef short row_t[COLUMNS];
        int f(row_t m[ROWS], const row_t *q, int t[static 5], int (*w)[3]) {
        #pragma HLS interface ap_memory port=q depth=2
        #pragma HLS interface ap_memory port=w depth=2
            int s = 0;
            for (int i = 0; i < ROWS; i++) for (int j = 0; j < COLUMNS; j++) s += m[i][j] * t[i + j > 4 ? 4 : i + j];
            return s + q[1][2] + w[1][2] + w[0][1];
        }
        """
    )
