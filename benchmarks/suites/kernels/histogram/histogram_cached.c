/* histogram: counts pixels by their upper six bits. */
#define PIXELS 256
#define BINS 64

void histogram(const unsigned char pixel[PIXELS], unsigned short bins[BINS])
{
    unsigned short table[BINS];

clear:
    for (int i = 0; i < BINS; i++)
        table[i] = 0;
    unsigned char last = pixel[0] >> 2;
    unsigned short run = 0;
count:
    for (int i = 0; i < PIXELS; i++) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=table type=intra false
        unsigned char bin = pixel[i] >> 2;
        if (bin == last) {
            run++;
        } else {
            table[last] = run;
            run = table[bin] + 1;
        }
        last = bin;
    }
    table[last] = run;
store:
    for (int i = 0; i < BINS; i++)
        bins[i] = table[i];
}

int main(void)
{
    unsigned char pixel[PIXELS];
    unsigned short bins[BINS] = {0};
    unsigned seed = 3;
    for (int call = 0; call < 4; call++) {
        for (int i = 0; i < PIXELS; i++) {
            seed = seed * 22695477u + 1u;
            unsigned r = seed >> 24;
            switch (call) {
            case 0: /* all in one bin */
                r = 255;
                break;
            case 1: /* two bins in turn */
                r = i & 1 ? 4 : 3;
                break;
            case 2: /* runs of 16 */
                r = i & 0xf0;
                break;
            }
            pixel[i] = (unsigned char)r;
        }
        histogram(pixel, bins);
        for (int b = 0; b < BINS; b++) {
            int expected = 0;
            for (int i = 0; i < PIXELS; i++)
                expected += pixel[i] / 4 == b;
            if (bins[b] != expected)
                return call + 1;
        }
    }
    return 0;
}
