/* sobel: |gx| + |gy|, saturated at 255; border pixels are 0. */
#include <stdint.h>

enum { ROWS = 16, COLUMNS = 16 };

static int magnitude(int value)
{
    return value < 0 ? -value : value;
}

static uint8_t to_byte(int value)
{
    return value > UINT8_MAX ? UINT8_MAX : (uint8_t)value;
}

void sobel(const uint8_t image[ROWS][COLUMNS], uint8_t edges[ROWS][COLUMNS])
{
row:
    for (int y = 0; y < ROWS; y++) {
column:
        for (int x = 0; x < COLUMNS; x++) {
            if (y == 0 || x == 0 || y == ROWS - 1 || x == COLUMNS - 1) {
                edges[y][x] = 0;
                continue;
            }
            const uint8_t *above = image[y - 1];
            const uint8_t *here = image[y];
            const uint8_t *below = image[y + 1];
            int gx = above[x + 1] + 2 * here[x + 1] + below[x + 1];
            gx -= above[x - 1] + 2 * here[x - 1] + below[x - 1];
            int gy = below[x - 1] + 2 * below[x] + below[x + 1];
            gy -= above[x - 1] + 2 * above[x] + above[x + 1];
            edges[y][x] = to_byte(magnitude(gx) + magnitude(gy));
        }
    }
}

static int expected(uint8_t image[ROWS][COLUMNS], int y, int x)
{
    static const int smooth[3] = {1, 2, 1};
    int gx = 0, gy = 0;
    if (y % (ROWS - 1) == 0 || x % (COLUMNS - 1) == 0)
        return 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            gx += j * smooth[i + 1] * image[y + i][x + j];
            gy += i * smooth[j + 1] * image[y + i][x + j];
        }
    int sum = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
    return sum < 255 ? sum : 255;
}

int main(void)
{
    static uint8_t image[ROWS][COLUMNS], edges[ROWS][COLUMNS];
    uint32_t seed = 99;
    for (int call = 0; call < 3; call++) {
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++) {
                seed = seed * 1664525u + 1013904223u;
                if (call == 0)
                    image[y][x] = (uint8_t)(x < 8 ? 10 * y : 255 - 3 * x);
                else if (call == 1)
                    image[y][x] = (uint8_t)(128 + (seed >> 27));
                else
                    image[y][x] = (uint8_t)(seed >> 24);
            }
        sobel((const uint8_t(*)[COLUMNS])image, edges);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            if (edges[i / COLUMNS][i % COLUMNS] != expected(image, i / COLUMNS, i % COLUMNS))
                return 1;
    }
    return 0;
}
