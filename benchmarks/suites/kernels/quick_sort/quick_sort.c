/* quick_sort: sorts 48 signed values in place; the longer part waits on the stack (Hoare, 1961). */
#define N 48
#define SHORT_RANGE 4

struct range {
    signed char low, high;
};

static void exchange(long value[], int i, int j)
{
    long keep = value[i];
    value[i] = value[j];
    value[j] = keep;
}

static long median(long a, long b, long c)
{
    if (a < b) {
        if (b < c)
            return b;
        return a < c ? c : a;
    }
    if (a < c)
        return a;
    return b < c ? c : b;
}

int quick_sort(long value[N])
{
    struct range stack[8];
    int depth = 0, deepest = 0;
    stack[depth++] = (struct range){0, N - 1};

ranges:
    while (depth > 0) {
        struct range now = stack[--depth];
        if (now.high - now.low < SHORT_RANGE) {
            for (int i = now.low + 1; i <= now.high; i++)
                for (int j = i; j > now.low && value[j - 1] > value[j]; j--)
                    exchange(value, j - 1, j);
            continue;
        }
        long pivot = median(value[now.low], value[(now.low + now.high) / 2], value[now.high]);
        int i = now.low, j = now.high;
partition:
        do {
            while (value[i] < pivot)
                i++;
            while (pivot < value[j])
                j--;
            if (i <= j)
                exchange(value, i++, j--);
        } while (i <= j);
        struct range left = {now.low, (signed char)j}, right = {(signed char)i, now.high};
        if (left.high - left.low < right.high - right.low) {
            struct range swap = left;
            left = right;
            right = swap;
        }
        if (left.low < left.high)
            stack[depth++] = left;
        if (right.low < right.high)
            stack[depth++] = right;
        if (depth > deepest)
            deepest = depth;
    }
    return deepest;
}

int main(void)
{
    unsigned long seed = 42;
    for (int call = 0; call < 5; call++) {
        long value[N], original[N];
        for (int i = 0; i < N; i++) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            long noise = (long)seed;
            value[i] = call == 0 ? i : call == 1 ? -i : call == 2 ? 7 : call == 3 ? noise >> 61 : noise;
            original[i] = value[i];
        }
        int deepest = quick_sort(value);
        if (deepest < 0 || deepest > 7)
            return 1;
        for (int i = 0; i < N; i++) {
            int below = 0, equal = 0;
            for (int k = 0; k < N; k++) {
                below += original[k] < value[i];
                equal += original[k] == value[i];
            }
            if (i < below || i >= below + equal)
                return 2;
        }
    }
    return 0;
}
