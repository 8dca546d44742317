/* newton_sqrt: the root of `radicand` / 65536, times 65536, rounded down. */
#include <stdint.h>

uint32_t newton_sqrt(uint32_t radicand)
{
    uint64_t n = (uint64_t)radicand << 16;
    if (n == 0)
        return 0;

    int bits = 0;
length:
    for (uint64_t m = n; m != 0; m >>= 1) {
        bits++;
    }

    uint64_t root, better = (uint64_t)1 << ((bits + 1) / 2);
newton:
    do {
        root = better;
        better = (root + n / root) / 2;
    } while (better < root);
    return (uint32_t)root;
}

int main(void)
{
    static const uint32_t corners[] = {0, 1, 2, 4, 65536, 131072, 65535, 0x7fffffff, 0x80000000u, 0xffffffffu};
    uint32_t seed = 3;
    for (int call = 0; call < 16; call++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t radicand = call < 10 ? corners[call] : seed >> (call - 10) * 4;
        uint64_t n = (uint64_t)radicand << 16;
        /* Digit by digit in base 2. */
        uint64_t root = 0;
        for (int bit = 24; bit >= 0; bit--) {
            uint64_t larger = root | (uint64_t)1 << bit;
            if (larger * larger <= n)
                root = larger;
        }
        if (newton_sqrt(radicand) != root)
            return 1;
    }
    return 0;
}
