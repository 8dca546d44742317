/* gf2_matrix: Gauss-Jordan on rows of the matrix (low half) and the unit matrix (high half). Returns the rank. */
#define N 16

int gf2_matrix(const unsigned short matrix[N], unsigned short inverse[N])
{
    unsigned row[N];
    int rank = 0;
    for (int i = 0; i < N; i++)
        row[i] = matrix[i] | 1u << (N + i);
column:
    for (int column = 0; column < N; column++) {
        int pivot = rank;
find:
        while (pivot < N && !(row[pivot] >> column & 1u)) {
            pivot++;
        }
        if (pivot == N)
            continue;
        unsigned chosen = row[pivot];
        row[pivot] = row[rank];
        row[rank] = chosen;
eliminate:
        for (int i = 0; i < N; i++) {
            if (i != rank && row[i] >> column & 1u)
                row[i] ^= chosen;
        }
        rank++;
    }
    for (int i = 0; i < N; i++)
        inverse[i] = rank == N ? (unsigned short)(row[i] >> N) : 0;
    return rank;
}

int main(void)
{
    unsigned seed = 90210;
    for (int call = 0; call < 5; call++) {
        static const int ranks[5] = {16, 16, 13, 1, 0};
        unsigned short left[N], right[N], matrix[N] = {0}, inverse[N] = {0};
        /* Lower times upper triangular, cut to the wanted rank, with the rows in another order. */
        for (int i = 0; i < N; i++) {
            seed = seed * 1103515245u + 12345u;
            unsigned bits = seed >> 16;
            left[i] = (unsigned short)((bits & ((1u << i) - 1u)) | 1u << i);
            right[i] = (unsigned short)((bits >> 3 << i << 1) | 1u << i);
            if (i >= ranks[call])
                right[i] = 0;
        }
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                if (left[i] >> k & 1)
                    matrix[(i * 5 + call) % N] ^= right[k];
        if (gf2_matrix(matrix, inverse) != ranks[call])
            return 1;
        for (int i = 0; i < N; i++) {
            unsigned product = 0;
            for (int k = 0; k < N; k++)
                if (inverse[i] >> k & 1)
                    product ^= matrix[k];
            if (product != (ranks[call] == N ? 1u << i : 0u))
                return 2;
        }
    }
    return 0;
}
