/*
 * adpcm: codes 64 samples as 4-bit differences, two a byte, and decodes them again.
 * The step grows by a tenth from entry to entry; both ends adapt it by the codes alone.
 */
#define SAMPLES 64
#define STEPS 49

static const short step_size[STEPS] = {
    16, 18, 19, 21, 23, 26, 28, 31, 34, 38, 41, 46, 50, 55,
    61, 67, 74, 81, 89, 98, 108, 118, 130, 143, 158, 173, 191, 210,
    231, 254, 279, 307, 338, 372, 409, 450, 495, 544, 598, 658, 724, 797,
    876, 964, 1060, 1166, 1283, 1411, 1552,
};

static const signed char adjust[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

typedef struct {
    int value;
    signed char index;
} predictor_t;

static predictor_t update(predictor_t p, unsigned code)
{
#pragma HLS inline off
    int step = step_size[p.index];
    int change = step >> 3;
    if (code & 4)
        change += step;
    if (code & 2)
        change += step >> 1;
    if (code & 1)
        change += step >> 2;
    p.value += (code & 8) ? -change : change;
    if (p.value > 32767)
        p.value = 32767;
    else if (p.value < -32768)
        p.value = -32768;
    int index = p.index + adjust[code & 7];
    p.index = (signed char)(index < 0 ? 0 : index >= STEPS ? STEPS - 1 : index);
    return p;
}

static unsigned encode(predictor_t *p, int sample)
{
#pragma HLS inline off
    int difference = sample - p->value;
    int step = step_size[p->index];
    unsigned code = 0;
    if (difference < 0) {
        code = 8;
        difference = -difference;
    }
    for (unsigned bit = 4; bit != 0; bit >>= 1) {
        if (difference >= step) {
            code |= bit;
            difference -= step;
        }
        step >>= 1;
    }
    *p = update(*p, code);
    return code;
}

static short decode(unsigned code)
{
#pragma HLS inline off
    static predictor_t decoder;
    decoder = update(decoder, code);
    return (short)decoder.value;
}

void adpcm(const short sample[SAMPLES], unsigned char packed[SAMPLES / 2], short decoded[SAMPLES])
{
    static predictor_t coder;
code:
    for (int i = 0; i < SAMPLES / 2; i++) {
        unsigned low = encode(&coder, sample[2 * i]);
        unsigned high = encode(&coder, sample[2 * i + 1]);
        packed[i] = (unsigned char)(high << 4 | low);
    }
decode:
    for (int i = 0; i < SAMPLES; i++) {
        unsigned pair = packed[i >> 1];
        decoded[i] = decode(i & 1 ? pair >> 4 : pair & 15u);
    }
}

/* The reference finds each code by comparing with all eight thresholds. */
struct model {
    int value, index;
};

static int model_step(struct model *m, int sample, int *code)
{
    int step = step_size[m->index];
    int distance = sample > m->value ? sample - m->value : m->value - sample;
    int best = 0;
    for (int c = 1; c < 8; c++) {
        int threshold = (c / 4) * step + (c / 2 % 2) * (step / 2) + (c % 2) * (step / 4);
        if (threshold <= distance)
            best = c;
    }
    int change = step / 8 + (best / 4) * step + (best / 2 % 2) * (step / 2) + (best % 2) * (step / 4);
    *code = sample < m->value ? best + 8 : best;
    m->value += sample < m->value ? -change : change;
    m->value = m->value > 32767 ? 32767 : m->value < -32768 ? -32768 : m->value;
    m->index += best < 4 ? -1 : 2 * (best - 3);
    m->index = m->index < 0 ? 0 : m->index > STEPS - 1 ? STEPS - 1 : m->index;
    return m->value;
}

int main(void)
{
    struct model model = {0, 0};
    unsigned seed = 11;
    for (int call = 0; call < 4; call++) {
        short sample[SAMPLES], decoded[SAMPLES] = {0};
        unsigned char packed[SAMPLES / 2] = {0};
        for (int i = 0; i < SAMPLES; i++) {
            seed = seed * 1103515245u + 12345u;
            int triangle = (i % 32 < 16 ? i % 32 : 32 - i % 32) * 1500 - 12000;
            int square = i % 16 < 8 ? 32767 : -32768;
            int noise = (int)(seed >> 16) - 32768;
            sample[i] = (short)(call == 0 ? triangle : call == 1 ? square : call == 2 ? noise : noise / 64);
        }
        adpcm(sample, packed, decoded);
        for (int i = 0; i < SAMPLES; i++) {
            int code;
            int value = model_step(&model, sample[i], &code);
            if ((packed[i / 2] >> (i % 2 * 4) & 15) != code || decoded[i] != value)
                return call + 1;
        }
    }
    return 0;
}
