/* histogram: counts pixels by their upper six bits. */
#define PIXELS 256
#define BINS 64

void histogram(const unsigned char pixel[PIXELS], unsigned short bins[BINS])
{
    unsigned short table[2][BINS];
#pragma HLS array_partition variable=table complete dim=1
#pragma HLS bind_storage variable=table type=ram_2p impl=lutram
#pragma HLS array_partition variable=pixel cyclic factor=2

clear:
    for (int i = 0; i < BINS; i++)
        table[0][i] = table[1][i] = 0;
count:
    for (int i = 0; i < PIXELS; i += 2) {
#pragma HLS pipeline II=1
        table[0][pixel[i] >> 2]++;
        table[1][pixel[i + 1] >> 2]++;
    }
store:
    for (int i = 0; i < BINS; i++)
        bins[i] = table[0][i] + table[1][i];
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
