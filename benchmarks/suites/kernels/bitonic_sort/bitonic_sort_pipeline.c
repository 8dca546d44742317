/* bitonic_sort: sorts 2^k elements with a fixed pattern of compare-and-exchange steps (Batcher, 1968). */
#include <stdint.h>

#define N 16

static void exchange(uint16_t *low, uint16_t *high, int descending)
{
    uint16_t a = *low, b = *high;
    int swap = descending ? a < b : a > b;
    *low = swap ? b : a;
    *high = swap ? a : b;
}

void bitonic_sort(uint16_t key[N], int descending)
{
    uint16_t work[N];

fetch:
    for (int i = 0; i < N; i++)
        work[i] = key[i];
merge:
    for (int size = 2; size <= N; size *= 2) {
stage:
        for (int distance = size / 2; distance > 0; distance /= 2) {
compare:
            for (int k = 0; k < N / 2; k++) {
#pragma HLS pipeline II=2
#pragma HLS dependence variable=work type=inter false
                int i = 2 * k - (k & (distance - 1));
                int backwards = (i & size) != 0;
                exchange(&work[i], &work[i + distance], backwards != descending);
            }
        }
    }
write_back:
    for (int i = 0; i < N; i++)
        key[i] = work[i];
}

int main(void)
{
    uint32_t seed = 17;
    for (int call = 0; call < 4; call++) {
        uint16_t key[N], original[N];
        int descending = call & 1;
        for (int i = 0; i < N; i++) {
            seed = seed * 1664525u + 1013904223u;
            uint32_t noise = seed >> (call == 2 ? 29 : 16);
            original[i] = call == 0 ? (uint16_t)(N - i) : call == 1 ? 65535 : (uint16_t)noise;
            key[i] = original[i];
        }
        bitonic_sort(key, descending);
        for (int i = 0; i < N; i++) {
            int before = 0, after = 0;
            if (i > 0 && (descending ? key[i] > key[i - 1] : key[i] < key[i - 1]))
                return 1;
            for (int k = 0; k < N; k++) {
                before += original[k] == key[i];
                after += key[k] == key[i];
            }
            if (before != after)
                return 2;
        }
    }
    return 0;
}
