/* knapsack: the greatest value that fits; bit i of *chosen is set if item i is part of it. */
#define ITEMS 12
#define CAPACITY 40

unsigned short knapsack(const unsigned char weight[ITEMS], const unsigned short value[ITEMS], unsigned short *chosen)
{
    unsigned short best[CAPACITY + 1];
    _Bool taken[ITEMS][CAPACITY + 1];

    for (int c = 0; c <= CAPACITY; c++)
        best[c] = 0;
item:
    for (int i = 0; i < ITEMS; i++) {
capacity:
        for (int c = CAPACITY; c >= 0; c--) {
#pragma HLS pipeline II=2
#pragma HLS dependence variable=best type=inter direction=RAW false
            taken[i][c] = 0;
            if (c >= weight[i]) {
                unsigned short with = best[c - weight[i]] + value[i];
                if (with > best[c]) {
                    best[c] = with;
                    taken[i][c] = 1;
                }
            }
        }
    }

    int room = CAPACITY;
    unsigned short set = 0;
collect:
    for (int i = ITEMS; i-- > 0;) {
        if (taken[i][room]) {
            set |= (unsigned short)(1u << i);
            room -= weight[i];
        }
    }
    *chosen = set;
    return best[CAPACITY];
}

int main(void)
{
    unsigned seed = 1234;
    for (int call = 0; call < 3; call++) {
        unsigned char weight[ITEMS];
        unsigned short value[ITEMS], chosen = 0xffff;
        for (int i = 0; i < ITEMS; i++) {
            seed = seed * 1103515245u + 12345u;
            weight[i] = (unsigned char)(call == 0 ? 41 : 1 + (seed >> 16) % (call == 1 ? 40u : 20u));
            value[i] = (unsigned short)(call == 1 ? 5000u : (seed >> 20) % 1000u);
        }
        unsigned short best = knapsack(weight, value, &chosen);
        unsigned greatest = 0; /* over all 4096 subsets */
        for (unsigned set = 0; set < 1u << ITEMS; set++) {
            unsigned total = 0, load = 0;
            for (int i = 0; i < ITEMS; i++)
                if (set >> i & 1u) {
                    total += value[i];
                    load += weight[i];
                }
            if (load > CAPACITY) {
                if (set == chosen)
                    return 1;
                continue;
            }
            if (set == chosen && total != best)
                return 2;
            if (total > greatest)
                greatest = total;
        }
        if (best != greatest)
            return 3;
    }
    return 0;
}
