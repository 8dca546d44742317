/* prefix_sum: sums[i] = data[0] + ... + data[i], without data[i] itself if `exclusive`; modulo 2^32. */
#define N 64

unsigned prefix_sum(const unsigned data[N], unsigned sums[N], _Bool exclusive)
{
    const unsigned *from = data;
    unsigned *to = sums;
    unsigned total = 0;
scan:
    do {
        unsigned before = total;
        total += *from++;
        *to++ = exclusive ? before : total;
    } while (from != data + N);
    return total;
}

int main(void)
{
    unsigned data[N], sums[N] = {0};
    unsigned r = 12345;
    for (int call = 0; call < 6; call++) {
        for (int i = 0; i < N; i++) {
            r = r * 1103515245u + 12345u;
            data[i] = call < 2 ? 0xffffffffu : call < 4 ? 1u << (i & 31) : r;
        }
        unsigned total = prefix_sum(data, sums, call & 1);
        /* Check by differences. */
        for (int i = 0; i + 1 < N; i++)
            if (sums[i + 1] - sums[i] != data[call & 1 ? i : i + 1])
                return 1;
        if (sums[0] != (call & 1 ? 0 : data[0]))
            return 2;
        if (total != sums[N - 1] + (call & 1 ? data[N - 1] : 0))
            return 3;
    }
    return 0;
}
