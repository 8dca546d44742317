/* game_of_life: begins with `rows` (a bit a cell) if `restart`; plays; returns the number of living cells. */
#include <stdbool.h>

#define SIZE 16

static bool board[2][SIZE][SIZE];
static int current;

static int neighbours(bool cell[SIZE][SIZE], int y, int x)
{
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dy != 0 || dx != 0)
                count += cell[(y + dy) & (SIZE - 1)][(x + dx) & (SIZE - 1)];
    return count;
}

int game_of_life(bool restart, int generations, unsigned short rows[SIZE])
{
    int living = 0;
    if (restart) {
        current = 0;
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++)
                board[0][y][x] = rows[y] >> x & 1;
    }
generation:
    while (generations-- > 0) {
#pragma HLS loop_tripcount min=0 max=4 avg=2
row:
        for (int y = 0; y < SIZE; y++) {
cell:
            for (int x = 0; x < SIZE; x++) {
#pragma HLS pipeline
                int count = neighbours(board[current], y, x);
                board[!current][y][x] = count == 3 || (count == 2 && board[current][y][x]);
            }
        }
        current = !current;
    }
    for (int y = 0; y < SIZE; y++) {
        unsigned short bits = 0;
        for (int x = 0; x < SIZE; x++) {
            bits |= (unsigned short)(board[current][y][x] << x);
            living += board[current][y][x];
        }
        rows[y] = bits;
    }
    return living;
}

/* A generation on whole rows: counts in bit-sliced form. */
static void step(unsigned short rows[SIZE])
{
    unsigned short next[SIZE];
    for (int y = 0; y < SIZE; y++) {
        unsigned ones = 0, twos = 0, fours = 0;
        for (int dy = SIZE - 1; dy <= SIZE + 1; dy++)
            for (int shift = 15; shift <= 17; shift++) {
                unsigned row = rows[(y + dy) % SIZE];
                unsigned seen = (row << (shift % 16) | row >> ((32 - shift) % 16)) & 0xffffu;
                if (dy == SIZE && shift == 16)
                    continue;
                unsigned carry = ones & seen;
                ones ^= seen;
                fours |= twos & carry;
                twos ^= carry;
            }
        next[y] = (unsigned short)(twos & ~fours & (ones | rows[y]));
    }
    for (int y = 0; y < SIZE; y++)
        rows[y] = next[y];
}

int main(void)
{
    unsigned short rows[SIZE] = {0}, model[SIZE] = {0};
    static const int generations[3] = {0, 1, 1};
    unsigned seed = 7777;
    for (int call = 0; call < 3; call++) {
        if (call != 1)
            for (int y = 0; y < SIZE; y++) {
                seed = seed * 69069u + 1u;
                model[y] = rows[y] = (unsigned short)(call == 0 ? (y < 3 ? 0xc001u >> y | 1u : 0) : seed >> 16 & seed);
            }
        int living = game_of_life(call != 1, generations[call], rows);
        for (int g = 0; g < generations[call]; g++)
            step(model);
        for (int y = 0; y < SIZE; y++) {
            if (rows[y] != model[y])
                return call + 1;
            for (unsigned bits = model[y]; bits != 0; bits &= bits - 1)
                living--;
        }
        if (living != 0)
            return 9;
    }
    return 0;
}
