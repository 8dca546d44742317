/*
 * rle: header h < 128: h + 1 literal bytes follow; h > 128: the next byte stands 257 - h times.
 * Decodes what it coded into `restored` and returns the coded size; -1 if the two differ.
 */
#define SIZE 64
#define CODED 66

static int encode(const unsigned char *plain, unsigned char *coded)
{
    int in = 0, out = 0;

next_run:
    if (in == SIZE)
        goto done;
    int run = 1;
run_length:
    while (in + run < SIZE && plain[in + run] == plain[in]) {
#pragma HLS loop_tripcount min=0 max=63 avg=2
        run++;
    }
    if (run < 3)
        goto literals;
    coded[out++] = (unsigned char)(257 - run);
    coded[out++] = plain[in];
    in += run;
    goto next_run;

literals:;
    int header = out++;
    int count = 0;
literal:
    do {
#pragma HLS loop_tripcount min=1 max=64 avg=8
        coded[out++] = plain[in++];
        count++;
    } while (in < SIZE && !(in + 2 < SIZE && plain[in] == plain[in + 1] && plain[in] == plain[in + 2]));
    coded[header] = (unsigned char)(count - 1);
    goto next_run;

done:
    return out;
}

int rle(const unsigned char plain[SIZE], unsigned char coded[CODED], unsigned char restored[SIZE])
{
    int length = encode(plain, coded);
    int in = 0, out = 0;
decode:
    while (in < length) {
#pragma HLS loop_tripcount min=1 max=32 avg=8
        unsigned char header = coded[in++];
        if (header < 128) {
            for (int i = 0; i <= header; i++)
                restored[out++] = coded[in++];
        } else {
            unsigned char value = coded[in++];
            for (int i = 257 - header; i != 0; i--)
                restored[out++] = value;
        }
    }
    for (int i = 0; i < SIZE; i++)
        if (restored[i] != plain[i])
            return -1;
    return length;
}

/* What the coded text has to say about byte i, without decoding the others. */
static int nth(const unsigned char *coded, int length, int i)
{
    for (int in = 0; in < length;) {
        int size = coded[in] < 128 ? coded[in] + 1 : 257 - coded[in];
        if (i < size)
            return coded[in] < 128 ? coded[in + 1 + i] : coded[in + 1];
        i -= size;
        in += coded[in] < 128 ? 1 + size : 2;
    }
    return -1;
}

int main(void)
{
    static const int sizes[4] = {2, 65, 0, 0};
    unsigned seed = 1001;
    unsigned level = 0;
    for (int call = 0; call < 5; call++) {
        unsigned char plain[SIZE], coded[CODED] = {0}, restored[SIZE] = {0};
        for (int i = 0; i < SIZE; i++) {
            seed = seed * 22695477u + 1u;
            if ((seed >> 16) % 7u < (call == 2 ? 1u : 4u))
                level = seed >> 24;
            plain[i] = (unsigned char)(call == 0 ? 9 : call == 1 ? (unsigned)i * 37u : level);
        }
        int length = rle(plain, coded, restored);
        if (length < 2 || length > 65 || (call < 2 && length != sizes[call]))
            return 1;
        for (int i = 0; i <= SIZE; i++)
            if (nth(coded, length, i) != (i < SIZE ? plain[i] : -1))
                return 2;
    }
    return 0;
}
