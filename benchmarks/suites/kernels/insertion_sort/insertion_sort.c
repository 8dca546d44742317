/* insertion_sort: sorts the first `count` elements in place, ascending; returns how many moves it took. */
#define N 40

int insertion_sort(int value[N], int count)
{
    int moves = 0;
    if (count < 2)
        return 0;
    if (count > N)
        count = N;
outer:
    for (int i = 1; i < count; i++) {
        int key = value[i];
        int j = i;
shift:
        while (j > 0 && value[j - 1] > key) {
            value[j] = value[j - 1];
            j--;
            moves++;
        }
        value[j] = key;
    }
    return moves;
}

int main(void)
{
    static const int counts[] = {0, 1, 2, 17, 40, 40};
    unsigned r = 1u;
    for (int call = 0; call < 6; call++) {
        int value[N], original[N];
        int count = counts[call];
        for (int i = 0; i < N; i++) {
            r = r * 134775813u + 1u;
            original[i] = value[i] = call == 4 ? N - i : call == 5 ? (int)r : (int)(r >> 29) - 3;
        }
        int moves = insertion_sort(value, count);
        /* An element's place is the number of elements that precede it; moves are the inversions. */
        int inversions = 0;
        for (int i = 0; i < N; i++) {
            int place = 0;
            if (i >= count)
                place = i;
            for (int k = 0; k < count && i < count; k++) {
                place += original[k] < original[i] || (original[k] == original[i] && k < i);
                inversions += k < i && original[k] > original[i];
            }
            if (value[place] != original[i])
                return 1;
        }
        if (moves != inversions)
            return 2;
    }
    return 0;
}
