/* levenshtein: the least number of characters to insert, delete or replace. Strings end with 0 or after 20. */
#define MAX_LENGTH 20

static unsigned char least(unsigned char a, unsigned char b, unsigned char c)
{
    unsigned char m = a < b ? a : b;
    return m < c ? m : c;
}

unsigned char levenshtein(const char a[MAX_LENGTH], const char b[MAX_LENGTH])
{
    unsigned char row[MAX_LENGTH + 1];
#pragma HLS array_partition variable=row type=complete
    unsigned char n = 0, m = 0;
    while (n < MAX_LENGTH && a[n] != '\0')
        n++;
    while (m < MAX_LENGTH && b[m] != '\0')
        m++;
    for (unsigned char j = 0; j <= m; j++)
        row[j] = j;
line:
    for (unsigned char i = 0; i < n; i++) {
#pragma HLS loop_tripcount min=0 max=20
        unsigned char diagonal = row[0];
        char c = a[i];
        row[0] = i + 1;
cell:
        for (unsigned char j = 0; j < m; j++) {
#pragma HLS loop_tripcount min=0 max=20
            unsigned char above = row[j + 1];
            unsigned char replaced = diagonal + (c != b[j]);
            row[j + 1] = least(above + 1, row[j] + 1, replaced);
            diagonal = above;
        }
    }
    return row[m];
}

/* By the definition, recursively, with a table of what is known. */
static int known[MAX_LENGTH + 1][MAX_LENGTH + 1];

static int distance(const char *a, int i, const char *b, int j)
{
    if (i == MAX_LENGTH || a[i] == '\0') {
        int rest = 0;
        while (j + rest < MAX_LENGTH && b[j + rest] != '\0')
            rest++;
        return rest;
    }
    if (j == MAX_LENGTH || b[j] == '\0')
        return 1 + distance(a, i + 1, b, j);
    if (known[i][j] == 0) {
        int result = distance(a, i + 1, b, j + 1) + (a[i] != b[j]);
        int deleted = distance(a, i + 1, b, j) + 1, inserted = distance(a, i, b, j + 1) + 1;
        result = result < deleted ? result : deleted;
        known[i][j] = 1 + (result < inserted ? result : inserted);
    }
    return known[i][j] - 1;
}

int main(void)
{
    static const char words[7][MAX_LENGTH + 1] = {
        "", "kitten", "sitting", "saturday", "sunday", "high-level-synthesi", "low level hypotheses",
    };
    for (int i = 0; i < 7; i++)
        for (int j = i % 2; j < 7; j += 2) {
            for (int k = 0; k < (MAX_LENGTH + 1) * (MAX_LENGTH + 1); k++)
                known[k / (MAX_LENGTH + 1)][k % (MAX_LENGTH + 1)] = 0;
            if (levenshtein(words[i], words[j]) != distance(words[i], 0, words[j], 0))
                return 1;
        }
    return 0;
}
