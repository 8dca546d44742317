/* matrix_inverse: returns the sign of the row permutation (1 or -1), or 0 if a pivot is (nearly) zero. */
#include <stdint.h>

#define N 4
#define ONE 65536

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

int matrix_inverse(const int32_t matrix[N][N], int32_t inverse[N][N])
{
    int64_t work[N][2 * N];
    int sign = 1;
#pragma HLS array_partition variable=work type=complete dim=2

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            work[i][j] = matrix[i][j];
            work[i][N + j] = i == j ? ONE : 0;
        }
pivot:
    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k + 1; i < N; i++)
            if (magnitude(work[i][k]) > magnitude(work[best][k]))
                best = i;
        if (magnitude(work[best][k]) < ONE / 1024)
            return 0;
        if (best != k) {
            sign = -sign;
exchange:
            for (int j = 0; j < 2 * N; j++) {
#pragma HLS unroll
                int64_t keep = work[k][j];
                work[k][j] = work[best][j];
                work[best][j] = keep;
            }
        }
        int64_t divisor = work[k][k];
scale:
        for (int j = 0; j < 2 * N; j++)
            work[k][j] = work[k][j] * ONE / divisor;
eliminate:
        for (int i = 0; i < N; i++) {
            int64_t factor = work[i][k];
            if (i == k)
                continue;
subtract:
            for (int j = 0; j < 2 * N; j++) {
#pragma HLS unroll
                work[i][j] -= (factor * work[k][j]) >> 16;
            }
        }
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            inverse[i][j] = (int32_t)work[i][N + j];
    return sign;
}

int main(void)
{
    static const int32_t fixed[3][N][N] = {
        {{ONE, 0, 0, 0}, {0, 2 * ONE, 0, 0}, {0, 0, -ONE / 2, 0}, {0, 0, 0, ONE}},
        {{0, 0, 0, ONE}, {ONE, 0, 0, 0}, {0, ONE, 0, 0}, {0, 0, 3 * ONE, 0}},
        {{ONE, 2 * ONE, 3 * ONE, 4 * ONE}, {ONE, 1, 2, 3}, {5 * ONE, ONE, 0, 0}, {2 * ONE, 4 * ONE, 6 * ONE, 8 * ONE}},
    };
    static const int signs[3] = {1, -1, 0};
    uint32_t seed = 5;
    for (int call = 0; call < 6; call++) {
        int32_t a[N][N], b[N][N] = {{0}};
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                seed = seed * 1664525u + 1013904223u;
                int32_t noise = (int32_t)(seed >> 14) - 131072; /* -2 to 2, and 5 more on the diagonal */
                a[i][j] = call < 3 ? fixed[call][i][j] : noise + (i == (j + call) % N ? 5 * ONE : 0);
            }
        int sign = matrix_inverse((const int32_t(*)[N])a, b);
        if (call < 3 && sign != signs[call])
            return 1;
        if (sign == 0)
            continue;
        /* The product with the matrix is the unit matrix but for rounding. */
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                int64_t sum = 0;
                for (int k = 0; k < N; k++)
                    sum += (int64_t)a[i][k] * b[k][j];
                int64_t error = sum - (i == j ? (int64_t)ONE * ONE : 0);
                if (error > 64 * (int64_t)ONE || error < -64 * (int64_t)ONE)
                    return 2;
            }
    }
    return 0;
}
