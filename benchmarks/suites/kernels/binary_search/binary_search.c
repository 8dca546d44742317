/* binary_search: where `wanted` is in `sorted`, else -1 minus the place where it would go. */
#define N 50
#define PRIMES 64

static const short prime[PRIMES] = {
    2,   3,   5,   7,   11,  13,  17,  19,  23,  29,  31,  37,  41,  43,  47,  53,
    59,  61,  67,  71,  73,  79,  83,  89,  97,  101, 103, 107, 109, 113, 127, 131,
    137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223,
    227, 229, 233, 239, 241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307, 311,
};

static int lower_bound(const short *table, int count, short wanted)
{
    int low = 0, high = count;
search:
    while (low < high) {
        int middle = (low + high) >> 1;
        if (table[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* With `count` 0 the primes are searched. */
int binary_search(const short sorted[N], unsigned char count, short wanted)
{
    const short *table = count ? sorted : prime;
    int limit = count ? count : PRIMES;
    int place = lower_bound(table, limit, wanted);
    if (place < limit && table[place] == wanted)
        return place;
    return -1 - place;
}

int main(void)
{
    short sorted[N];
    for (int i = 0; i < N; i++)
        sorted[i] = (short)(3 * i * i - 4000);
    static const unsigned char counts[] = {0, 1, 2, 33, N};
    for (int c = 0; c < 5; c++) {
        const short *table = counts[c] ? sorted : prime;
        int limit = counts[c] ? counts[c] : PRIMES;
        for (int wanted = -4100; wanted < 4000; wanted += 731) {
            for (int near = -1; near <= 1; near++) {
                short target = (short)(near ? table[(wanted + 4100) % limit] + near : wanted);
                int smaller = 0, found = 0;
                for (int i = 0; i < limit; i++) {
                    smaller += table[i] < target;
                    found |= table[i] == target;
                }
                if (binary_search(sorted, counts[c], target) != (found ? smaller : -1 - smaller))
                    return 1;
            }
        }
    }
    return 0;
}
