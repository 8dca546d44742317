/* gcd: the greatest common divisor; *multiple becomes the least common multiple, 0 if an operand is 0. */
unsigned int gcd(unsigned int a, unsigned int b, unsigned long long *multiple)
{
    unsigned int x = a, y = b;
    *multiple = 0;
    if (a == 0 || b == 0)
        return a | b;
euclid:
    do {
#pragma HLS loop_tripcount min=1 max=46 avg=18
        unsigned int rest = x % y;
        x = y;
        y = rest;
    } while (y != 0);
    *multiple = (unsigned long long)(a / x) * b;
    return x;
}

/* Stein's binary algorithm. */
static unsigned int binary_gcd(unsigned int a, unsigned int b)
{
    unsigned int twos = 0;
    if (a == 0 || b == 0)
        return a + b;
    for (; !((a | b) & 1); twos++)
        a >>= 1, b >>= 1;
    while (a != b) {
        if (!(a & 1))
            a >>= 1;
        else if (!(b & 1))
            b >>= 1;
        else if (a > b)
            a -= b;
        else
            b -= a;
    }
    return a << twos;
}

int main(void)
{
    static const unsigned int pairs[][2] = {
        {0, 0},          {0, 5},           {7, 0},          {1, 1},         {12, 18},
        {0xffffffff, 1}, {0xffffffff, 85}, {0x80000000, 6}, {1000003, 999}, {0xffffffff, 0xffffffff},
        {1836311903, 1134903170}, /* neighbours in Fibonacci's sequence */
        {735134400, 698377680},   /* many divisors */
    };
    unsigned int seed = 2024;
    for (int call = 0; call < 24; call++) {
        seed = seed * 1103515245u + 12345u;
        unsigned int a = call < 12 ? pairs[call][0] : (seed >> 16) * 12u;
        seed = seed * 1103515245u + 12345u;
        unsigned int b = call < 12 ? pairs[call][1] : (seed >> 8) * 18u;
        unsigned long long multiple = 1;
        unsigned int divisor = gcd(a, b, &multiple);
        if (divisor != binary_gcd(a, b))
            return 1;
        if (divisor * multiple != (unsigned long long)a * b)
            return 2;
    }
    return 0;
}
