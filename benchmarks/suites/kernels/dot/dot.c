/* dot: the sum of a[i] * b[i], modulo 2^64. */
#define N 64

long long dot(const int a[N], const int b[N])
{
    unsigned long long sum = 0;
element:
    for (int i = 0; i < N; ++i) {
        long long product = (long long)a[i] * b[i];
        sum += (unsigned long long)product;
    }
    return (long long)sum;
}

/* Multiply by shifting and adding; negative numbers by their magnitude. */
static unsigned long long shift_and_add(int x, int y)
{
    unsigned long long wide = (unsigned long long)(long long)x, sum = 0;
    for (int bit = 0; bit < 32; bit++)
        if ((unsigned)y >> bit & 1u)
            sum += wide << bit;
    return y < 0 ? sum - (wide << 32) : sum;
}

int main(void)
{
    int a[N], b[N];
    unsigned long long state = 88172645463325252ull;
    for (int call = 0; call < 5; call++) {
        unsigned long long expected = 0;
        for (int i = 0; i < N; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            a[i] = call == 0 ? -2147483647 - 1 : call == 1 ? 2147483647 : (int)(unsigned)state;
            b[i] = call == 0 ? -2147483647 - 1 : call == 1 ? -1 : (int)(unsigned)(state >> 32);
            expected += shift_and_add(a[i], b[i]);
        }
        if ((unsigned long long)dot(a, b) != expected)
            return call + 1;
    }
    return 0;
}
