/*
 * needleman_wunsch: match +2, mismatch -1, gap -2 (Needleman and Wunsch, 1970). Ties go to the diagonal, then up.
 * Returns the score; the aligned strings, written from the end, are `length` long and begin with the last letters.
 */
#define N 16

enum { MATCH = 2, MISMATCH = -1, GAP = -2 };
enum move { DIAGONAL, UP, LEFT };

int needleman_wunsch(const char a[N], const char b[N], char aligned_a[2 * N], char aligned_b[2 * N], int *length)
{
    short score[N + 1][N + 1];
    unsigned char move[N + 1][N + 1];

    for (int i = 0; i <= N; i++) {
        score[i][0] = (short)(i * GAP);
        score[0][i] = (short)(i * GAP);
        move[i][0] = UP;
        move[0][i] = LEFT;
    }
row:
    for (int i = 1; i <= N; i++) {
        int left = score[i][0];
column:
        for (int j = 1; j <= N; j++) {
#pragma HLS pipeline
            int best = score[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? MATCH : MISMATCH);
            enum move from = DIAGONAL;
            int up = score[i - 1][j] + GAP;
            if (up > best) {
                best = up;
                from = UP;
            }
            left += GAP;
            if (left > best) {
                best = left;
                from = LEFT;
            }
            score[i][j] = (short)best;
            move[i][j] = (unsigned char)from;
            left = best;
        }
    }

    int i = N, j = N, n = 0;
back:
    while (i > 0 || j > 0) {
#pragma HLS loop_tripcount min=16 max=32
        switch ((enum move)move[i][j]) {
        case DIAGONAL:
            aligned_a[n] = a[--i];
            aligned_b[n] = b[--j];
            break;
        case UP:
            aligned_a[n] = a[--i];
            aligned_b[n] = '-';
            break;
        case LEFT:
            aligned_a[n] = '-';
            aligned_b[n] = b[--j];
            break;
        }
        n++;
    }
    *length = n;
    return score[N][N];
}

/* The best score, from the ends to the beginnings, with two rows. */
static int best_score(const char *a, const char *b)
{
    int below[N + 1], here[N + 1];
    for (int j = 0; j <= N; j++)
        below[j] = (N - j) * GAP;
    for (int i = N - 1; i >= 0; i--) {
        here[N] = (N - i) * GAP;
        for (int j = N - 1; j >= 0; j--) {
            int gap = (below[j] > here[j + 1] ? below[j] : here[j + 1]) + GAP;
            int both = below[j + 1] + (a[i] == b[j] ? MATCH : MISMATCH);
            here[j] = both > gap ? both : gap;
        }
        for (int j = 0; j <= N; j++)
            below[j] = here[j];
    }
    return below[0];
}

int main(void)
{
    static const char pairs[4][2][N + 1] = {
        {"GATTACAGATTACAGA", "GATTACAGATTACAGA"},
        {"AAAAAAAAAAAAAAAA", "CCCCCCCCCCCCCCCC"},
        {"GCATGCGTACGATTAC", "ATGCATGCGTAGATTA"},
        {"ACGTTGCAACGTGGGT", "TTTACGTGCAAACGTG"},
    };
    for (int call = 0; call < 4; call++) {
        const char *a = pairs[call][0], *b = pairs[call][1];
        char x[2 * N] = {0}, y[2 * N] = {0};
        int length = 0, i = N, j = N, sum = 0;
        int score = needleman_wunsch(a, b, x, y, &length);
        for (int n = 0; n < length; n++) {
            if (x[n] == '-' && y[n] == '-')
                return 1;
            if ((x[n] != '-' && (i == 0 || x[n] != a[--i])) || (y[n] != '-' && (j == 0 || y[n] != b[--j])))
                return 2;
            sum += x[n] == '-' || y[n] == '-' ? GAP : x[n] == y[n] ? MATCH : MISMATCH;
        }
        if (i != 0 || j != 0 || sum != score || score != best_score(a, b))
            return 3;
    }
    return 0;
}
