/*
 * fir: a symmetric 16-tap low-pass filter in Q15.
 * The delay line is static, so that a long signal can be filtered block by block.
 */
#define TAPS 16
#define BLOCK 32

static const short coefficient[TAPS] = {
    -96, -243, -255, 345, 1547, 3291, 4966, 5600,
    5600, 4966, 3291, 1547, 345, -255, -243, -96,
};

void fir(const short input[BLOCK], short output[BLOCK])
{
    static short delay[TAPS];

sample:
    for (int n = 0; n < BLOCK; n++) {
        int sum = 0;
tap:
        for (int k = TAPS - 1; k >= 0; k--) {
            delay[k] = k == 0 ? input[n] : delay[k - 1];
            sum += delay[k] * coefficient[k];
        }
        output[n] = (short)(sum >> 15);
    }
}

#define BLOCKS 4

/* The reference convolves the whole signal at once, in 64 bits. */
static int expected(const short *signal, int n)
{
    long long sum = 0;
    for (int k = 0; k < TAPS && k <= n; k++)
        sum += (long long)signal[n - k] * coefficient[k];
    long long quotient = sum / 32768;
    if (sum % 32768 < 0)
        quotient--;
    return (int)quotient;
}

int main(void)
{
    static short signal[BLOCKS * BLOCK], filtered[BLOCKS * BLOCK];
    unsigned seed = 1;
    for (int n = 0; n < BLOCKS * BLOCK; n++) {
        seed = seed * 1103515245u + 12345u;
        if (n < BLOCK)
            signal[n] = n == 0 ? 32767 : 0;
        else if (n < 2 * BLOCK)
            signal[n] = -32768;
        else
            signal[n] = (short)((int)(seed >> 16) - 32768);
    }
    for (int b = 0; b < BLOCKS; b++)
        fir(signal + b * BLOCK, filtered + b * BLOCK);
    for (int n = 0; n < BLOCKS * BLOCK; n++)
        if (filtered[n] != expected(signal, n))
            return 1;
    return 0;
}
