/* median_filter: the border is copied; inside, each pixel becomes the median of its neighbourhood. */
#define SIZE 12

typedef unsigned char pixel;

struct pair {
    pixel low, high;
};

static struct pair in_order(pixel a, pixel b)
{
    struct pair p;
    if (a <= b) {
        p.low = a;
        p.high = b;
    } else {
        p.low = b;
        p.high = a;
    }
    return p;
}

#define EXCHANGE(i, j) \
    do { \
        struct pair p_ = in_order(v[i], v[j]); \
        v[i] = p_.low; \
        v[j] = p_.high; \
    } while (0)

static pixel median9(pixel v[9])
{
    EXCHANGE(1, 2);
    EXCHANGE(4, 5);
    EXCHANGE(7, 8);
    EXCHANGE(0, 1);
    EXCHANGE(3, 4);
    EXCHANGE(6, 7);
    EXCHANGE(1, 2);
    EXCHANGE(4, 5);
    EXCHANGE(7, 8);
    EXCHANGE(0, 3);
    EXCHANGE(5, 8);
    EXCHANGE(4, 7);
    EXCHANGE(3, 6);
    EXCHANGE(1, 4);
    EXCHANGE(2, 5);
    EXCHANGE(4, 7);
    EXCHANGE(4, 2);
    EXCHANGE(6, 4);
    EXCHANGE(4, 2);
    return v[4];
}

void median_filter(const pixel noisy[SIZE][SIZE], pixel clean[SIZE][SIZE])
{
#pragma HLS array_partition variable=noisy type=cyclic factor=3 dim=1
row:
    for (int y = 0; y < SIZE; y++) {
column:
        for (int x = 0; x < SIZE; x++) {
#pragma HLS pipeline II=3
            if (y < 1 || y > SIZE - 2 || x < 1 || x > SIZE - 2) {
                clean[y][x] = noisy[y][x];
            } else {
                pixel window[9];
#pragma HLS array_partition variable=window type=complete
                for (int i = 0; i < 9; i++)
                    window[i] = noisy[y - 1 + i / 3][x - 1 + i % 3];
                clean[y][x] = median9(window);
            }
        }
    }
}

int main(void)
{
    unsigned seed = 33;
    for (int call = 0; call < 3; call++) {
        pixel noisy[SIZE][SIZE], clean[SIZE][SIZE] = {{0}};
        for (int i = 0; i < SIZE * SIZE; i++) {
            seed = seed * 69069u + 1u;
            int r = (int)(seed >> 24), spike = r < 40;
            noisy[i / SIZE][i % SIZE] = (pixel)(call == 0 ? (spike ? 255 : i) : call == 1 ? r & 3 : r);
        }
        median_filter((const pixel(*)[SIZE])noisy, clean);
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++) {
                int smaller = 0, equal = 0;
                if (y % (SIZE - 1) == 0 || x % (SIZE - 1) == 0) {
                    if (clean[y][x] != noisy[y][x])
                        return 1;
                    continue;
                }
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++) {
                        smaller += noisy[y + dy][x + dx] < clean[y][x];
                        equal += noisy[y + dy][x + dx] == clean[y][x];
                    }
                if (smaller > 4 || smaller + equal < 5)
                    return 2;
            }
    }
    return 0;
}
