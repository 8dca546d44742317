/* fft: decimation in time (Cooley and Tukey, 1965). The result is the transform divided by 64. */
#define LOG2 6
#define N (1 << LOG2)

/* exp(-2 pi i k / 64) in Q14. */
static const short cosine[N / 2] = {
    16384, 16305, 16069, 15679, 15137, 14449, 13623, 12665,
    11585, 10394, 9102, 7723, 6270, 4756, 3196, 1606,
    0, -1606, -3196, -4756, -6270, -7723, -9102, -10394,
    -11585, -12665, -13623, -14449, -15137, -15679, -16069, -16305,
};
static const short sine[N / 2] = {
    0, 1606, 3196, 4756, 6270, 7723, 9102, 10394,
    11585, 12665, 13623, 14449, 15137, 15679, 16069, 16305,
    16384, 16305, 16069, 15679, 15137, 14449, 13623, 12665,
    11585, 10394, 9102, 7723, 6270, 4756, 3196, 1606,
};

static int round_q14(long long x)
{
    return (int)((x + (1 << 13)) >> 14);
}

void fft(int re[N], int im[N])
{
reverse:
    for (int i = 0; i < N; i++) {
        int mirrored = 0;
        for (int bit = 0; bit < LOG2; bit++)
            mirrored |= (i >> bit & 1) << (LOG2 - 1 - bit);
        if (i < mirrored) {
            int keep_re = re[i], keep_im = im[i];
            re[i] = re[mirrored];
            im[i] = im[mirrored];
            re[mirrored] = keep_re;
            im[mirrored] = keep_im;
        }
    }
stage:
    for (int s = 0; s < LOG2; s++) {
        int half = 1 << s;
butterfly:
        for (int k = 0; k < N / 2; k++) {
            int j = k & (half - 1);
            int top = ((k >> s) << (s + 1)) + j;
            int bottom = top + half;
            int turn = j << (LOG2 - 1 - s);
            long long c = cosine[turn], d = sine[turn];
            long long p = c * re[bottom], q = d * im[bottom], r = c * im[bottom], t = d * re[bottom];
            int x = round_q14(p + q), y = round_q14(r - t);
            int u = re[top], v = im[top];
            re[top] = (u + x) >> 1;
            im[top] = (v + y) >> 1;
            re[bottom] = (u - x) >> 1;
            im[bottom] = (v - y) >> 1;
        }
    }
}

static long long twiddle(const short *table, int angle)
{
    return angle & 32 ? -table[angle & 31] : table[angle & 31];
}

int main(void)
{
    unsigned seed = 31;
    for (int call = 0; call < 3; call++) {
        int re[N], im[N], x[N], y[N];
        for (int n = 0; n < N; n++) {
            seed = seed * 1664525u + 1013904223u;
            int square = n % 8 < 4 ? 1000000 : -1000000, noise = (int)(seed >> 11) - 1048576;
            x[n] = call == 0 ? (n == 0) << 20 : call == 1 ? square : noise;
            y[n] = call == 2 ? (int)(seed & 0xfffffu) : 0;
            re[n] = x[n];
            im[n] = y[n];
        }
        fft(re, im);
        /* The transform by its definition, in 64 bits; rounding may cost a few units. */
        for (int k = 0; k < N; k++) {
            long long sum_re = 0, sum_im = 0;
            for (int n = 0; n < N; n++) {
                long long c = twiddle(cosine, n * k & 63), s = twiddle(sine, n * k & 63);
                sum_re += c * x[n] + s * y[n];
                sum_im += c * y[n] - s * x[n];
            }
            long long off_re = sum_re / (N << 14) - re[k], off_im = sum_im / (N << 14) - im[k];
            if (off_re > 40 || off_re < -40 || off_im > 40 || off_im < -40)
                return call + 1;
        }
    }
    return 0;
}
