/* n_queens: a place per row is tried, lowest bit first; a level of the stack is a row. */
#define MAX_N 7

struct level {
    unsigned char columns, rising, falling, open;
};

unsigned n_queens(unsigned n)
{
    struct level stack[MAX_N];
    unsigned all = (1u << n) - 1u, solutions = 0;
    int row = 0;
    if (n == 0 || n > MAX_N)
        return 0;
    stack[0].columns = stack[0].rising = stack[0].falling = 0;
    stack[0].open = (unsigned char)all;
search:
    while (row >= 0) {
#pragma HLS loop_tripcount min=2 max=1200 avg=200
        struct level *here = &stack[row];
        unsigned place = here->open & (0u - here->open);
        if (place == 0) {
            row--;
            continue;
        }
        here->open ^= (unsigned char)place;
        unsigned columns = here->columns | place;
        if (columns == all) {
            solutions++;
            continue;
        }
        unsigned rising = (here->rising | place) << 1 & all;
        unsigned falling = (here->falling | place) >> 1;
        row++;
        stack[row].columns = (unsigned char)columns;
        stack[row].rising = (unsigned char)rising;
        stack[row].falling = (unsigned char)falling;
        stack[row].open = (unsigned char)(all & ~(columns | rising | falling));
    }
    return solutions;
}

/* All ways to put a queen in each row, as numbers in base n. */
static unsigned brute_force(unsigned n)
{
    unsigned total = 1, good = 0;
    for (unsigned i = 0; i < n; i++)
        total *= n;
    for (unsigned code = 0; code < total; code++) {
        int place[MAX_N], safe = 1;
        unsigned rest = code;
        for (unsigned i = 0; i < n && safe; i++, rest /= n) {
            place[i] = (int)(rest % n);
            for (unsigned k = 0; k < i; k++) {
                int across = place[i] - place[k], down = (int)(i - k);
                safe &= across != 0 && across != down && across != -down;
            }
        }
        good += (unsigned)safe;
    }
    return good;
}

int main(void)
{
    for (unsigned n = 1; n <= 6; n++)
        if (n_queens(n) != brute_force(n))
            return 1;
    return n_queens(0) == 0 && n_queens(7) == 40 && n_queens(8) == 0 ? 0 : 2;
}
