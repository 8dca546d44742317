/* dct8x8: orthonormal DCT-II of pixels less 128; cosines in Q13. */
#include <stdint.h>

static const int16_t basis[8][8] = {
    {2896, 2896, 2896, 2896, 2896, 2896, 2896, 2896},
    {4017, 3406, 2276, 799, -799, -2276, -3406, -4017},
    {3784, 1567, -1567, -3784, -3784, -1567, 1567, 3784},
    {3406, -799, -4017, -2276, 2276, 4017, 799, -3406},
    {2896, -2896, -2896, 2896, 2896, -2896, -2896, 2896},
    {2276, -4017, 799, 3406, -3406, -799, 4017, -2276},
    {1567, -3784, 3784, -1567, -1567, 3784, -3784, 1567},
    {799, -2276, 3406, -4017, 4017, -3406, 2276, -799},
};

typedef int16_t block_t[8][8];

static void rows(const uint8_t pixel[8][8], block_t partial)
{
row:
    for (int y = 0; y < 8; y++) {
row_coefficient:
        for (int u = 0; u < 8; u++) {
            int32_t sum = 1 << 9;
            for (int x = 0; x < 8; x++)
                sum += basis[u][x] * (pixel[y][x] - 128);
            partial[y][u] = (int16_t)(sum >> 10); /* three fraction bits remain */
        }
    }
}

static void columns(block_t partial, block_t coefficient)
{
column:
    for (int u = 0; u < 8; u++) {
column_coefficient:
        for (int v = 0; v < 8; v++) {
            int32_t sum = 1 << 15;
            for (int y = 0; y < 8; y++)
                sum += basis[v][y] * partial[y][u];
            coefficient[v][u] = (int16_t)(sum >> 16);
        }
    }
}

void dct8x8(const uint8_t pixel[8][8], block_t coefficient)
{
    block_t partial;
    rows(pixel, partial);
    columns(partial, coefficient);
}

int main(void)
{
    uint32_t seed = 8;
    for (int call = 0; call < 4; call++) {
        uint8_t pixel[8][8];
        block_t coefficient = {{0}};
        for (int i = 0; i < 64; i++) {
            seed = seed * 1664525u + 1013904223u;
            unsigned ramp = (unsigned)i * 4;
            unsigned board = ((unsigned)i / 8 + (unsigned)i) % 2 * 255;
            pixel[i / 8][i % 8] = (uint8_t)(call == 0 ? 255 : call == 1 ? board : call == 2 ? ramp : seed);
        }
        dct8x8((const uint8_t(*)[8])pixel, coefficient);
        /* All 64 products at once, in 64 bits; the passes round twice. */
        for (int v = 0; v < 8; v++)
            for (int u = 0; u < 8; u++) {
                int64_t sum = 0;
                for (int i = 0; i < 64; i++)
                    sum += (int64_t)basis[v][i / 8] * basis[u][i % 8] * (pixel[i / 8][i % 8] - 128);
                int64_t error = (coefficient[v][u] * ((int64_t)1 << 26)) - sum;
                if (error > (int64_t)1 << 26 || error < -((int64_t)1 << 26))
                    return call + 1;
            }
        if (call == 0 && coefficient[0][0] != 127 * 8)
            return 5;
    }
    return 0;
}
