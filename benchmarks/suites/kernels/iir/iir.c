/*
 * iir: three second-order sections in direct form I, coefficients in Q14.
 * y[n] = b0 x[n] + b1 x[n-1] + b2 x[n-2] - a1 y[n-1] - a2 y[n-2]
 */
#define SECTIONS 3
#define BLOCK 24

struct biquad {
    short b0, b1, b2, a1, a2;
};

struct memory {
    short x1, x2, y1, y2;
};

static const struct biquad section[SECTIONS] = {
    {1024, 2048, 1024, -22118, 8520},
    {4096, -8192, 4096, -27541, 11960},
    {16384, -15237, 9011, 7045, 4915},
};

static short saturate(int value)
{
    if (value > 32767)
        return 32767;
    if (value < -32768)
        return -32768;
    return (short)value;
}

void iir(const short in[BLOCK], short out[BLOCK])
{
    static struct memory state[SECTIONS];

sample:
    for (int n = 0; n < BLOCK; n++) {
        short x = in[n];
stage:
        for (int s = 0; s < SECTIONS; s++) {
            const struct biquad *c = &section[s];
            struct memory *m = &state[s];
            long long sum = (long long)c->b0 * x + c->b1 * m->x1;
            sum += c->b2 * m->x2;
            sum -= (long long)c->a1 * m->y1;
            sum -= c->a2 * m->y2;
            short y = saturate((int)((sum + 8192) >> 14));
            m->x2 = m->x1;
            m->x1 = x;
            m->y2 = m->y1;
            m->y1 = y;
            x = y;
        }
        out[n] = x;
    }
}

#define LENGTH (BLOCK * 4)

static int clip(long long v)
{
    return v > 32767 ? 32767 : v < -32768 ? -32768 : (int)v;
}

/* Filter the whole signal with one section after the other. */
static void filter_all(int *signal)
{
    for (int s = 0; s < SECTIONS; s++) {
        int result[LENGTH];
        for (int n = 0; n < LENGTH; n++) {
            int b[3] = {section[s].b0, section[s].b1, section[s].b2};
            int a[3] = {0, section[s].a1, section[s].a2};
            long long sum = 8192;
            for (int k = 0; k < 3 && k <= n; k++)
                sum += (long long)b[k] * signal[n - k];
            for (int k = 1; k < 3 && k <= n; k++)
                sum -= (long long)a[k] * result[n - k];
            long long scaled = sum / 16384;
            if (sum < 0 && sum % 16384 != 0)
                scaled -= 1;
            result[n] = clip(scaled);
        }
        for (int n = 0; n < LENGTH; n++)
            signal[n] = result[n];
    }
}

int main(void)
{
    short x[LENGTH], y[LENGTH] = {0};
    int want[LENGTH];
    unsigned noise = 0xace1u;
    for (int n = 0; n < LENGTH; n++) {
        noise = (noise >> 1) ^ ((0u - (noise & 1u)) & 0xb400u);
        x[n] = n < 10 ? 32767 : n < 20 ? -32768 : (short)((int)noise - 32768);
        want[n] = x[n];
    }
    filter_all(want);
    for (int n = 0; n < LENGTH; n += BLOCK)
        iir(&x[n], &y[n]);
    for (int n = 0; n < LENGTH; n++)
        if (y[n] != want[n])
            return 1;
    return 0;
}
