/* spmv: y = A x, where row r has the elements row_start[r] to row_start[r + 1] - 1. */
#define ROWS 16
#define MAX_ELEMENTS 80

void spmv(const unsigned char row_start[ROWS + 1], const unsigned char column[MAX_ELEMENTS],
          const short value[MAX_ELEMENTS], const short x[ROWS], int y[ROWS])
{
    unsigned char end[ROWS];
#pragma HLS array_partition variable=end type=complete
    int r = 0, sum = 0;

row:
    for (int i = 0; i < ROWS; i++) {
#pragma HLS pipeline II=1
        end[i] = row_start[i + 1];
        y[i] = 0;
    }
    int e = 0, elements = row_start[ROWS];
element:
    while (e < elements) {
#pragma HLS pipeline II=1
#pragma HLS loop_tripcount min=0 max=96 avg=80
        /* A row's end costs a turn. */
        if (e == end[r]) {
            r++;
            sum = 0;
        } else {
            sum += value[e] * x[column[e]];
            y[r] = sum;
            e++;
        }
    }
}

int main(void)
{
    unsigned seed = 9;
    for (int call = 0; call < 3; call++) {
        short dense[ROWS][ROWS] = {{0}}, value[MAX_ELEMENTS] = {0}, x[ROWS];
        unsigned char row_start[ROWS + 1], column[MAX_ELEMENTS] = {0};
        int y[ROWS] = {0}, elements = 0;
        for (int r = 0; r < ROWS; r++) {
            row_start[r] = (unsigned char)elements;
            for (int c = 0; c < ROWS; c++) {
                seed = seed * 69069u + 1u;
                int some = (seed >> 16) % 5u < 2 && r % 5 != 0;
                int wanted = call == 0 ? r == c : call == 1 ? r == 5 || r == 15 : some;
                if (!wanted || elements == MAX_ELEMENTS)
                    continue;
                dense[r][c] = value[elements] = (short)((int)(seed >> 17) - 16384);
                column[elements++] = (unsigned char)c;
            }
            x[r] = (short)((int)((seed >> 3) & 0x1fff) - 4096);
        }
        row_start[ROWS] = (unsigned char)elements;
        spmv(row_start, column, value, x, y);
        for (int r = 0; r < ROWS; r++) {
            long long expected = 0;
            for (int c = 0; c < ROWS; c++)
                expected += dense[r][c] * (long long)x[c];
            if (y[r] != expected)
                return call + 1;
        }
    }
    return 0;
}
