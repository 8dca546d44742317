/*
 * lz77_decode: each flag byte tells of eight items, lowest bit first: 0: a literal byte; 1: two bytes, distance - 1
 * (low six bits) and length - 2. Returns the length of the text, or -1 if a copy reaches before its beginning.
 */
#include <stdint.h>

#define CODED 96
#define TEXT 128

int lz77_decode(const uint8_t coded[CODED], int size, uint8_t text[TEXT])
{
    int in = 0, out = 0;
    unsigned flags = 1;
item:
    while (in < size) {
        if (flags == 1)
            flags = 0x100u | coded[in++];
        if (!(flags & 1)) {
            text[out++] = coded[in++];
        } else {
            int distance = (coded[in] & 63) + 1;
            int length = coded[in + 1] + 2;
            if (distance > out)
                return -1;
            in += 2;
copy:
            while (length-- > 0) {
#pragma HLS pipeline II=2
                text[out] = text[out - distance];
                out++;
            }
        }
        flags >>= 1;
    }
    return out;
}

/* A greedy coder that looks for the longest match in the last 64 bytes. */
static int encode(const uint8_t *text, int length, uint8_t *coded)
{
    int size = 0, flag_at = 0, items = 0;
    for (int at = 0; at < length;) {
        int best = 0, where = 0;
        for (int distance = 1; distance <= 64 && distance <= at; distance++) {
            int match = 0;
            while (at + match < length && text[at + match] == text[at + match - distance])
                match++;
            if (match > best) {
                best = match;
                where = distance;
            }
        }
        if (items++ % 8 == 0) {
            flag_at = size++;
            coded[flag_at] = 0;
        }
        if (best >= 3) {
            coded[flag_at] |= (uint8_t)(1 << ((items - 1) % 8));
            coded[size++] = (uint8_t)(where - 1);
            coded[size++] = (uint8_t)(best - 2);
            at += best;
        } else {
            coded[size++] = text[at++];
        }
    }
    return size;
}

int main(void)
{
    static const char *const texts[4] = {
        "abracadabra abracadabra",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "no two alike: The quick brown fox",
        "she sells sea shells by the sea shore; the shells she sells are sea shells for sure",
    };
    uint8_t coded[CODED] = {0}, text[TEXT] = {0};
    for (int call = 0; call < 4; call++) {
        const uint8_t *plain = (const uint8_t *)texts[call];
        int length = 0;
        while (plain[length] != 0)
            length++;
        int size = encode(plain, length, coded);
        if (size > CODED || (call != 2 && size >= length))
            return 1;
        if (lz77_decode(coded, size, text) != length)
            return 2;
        for (int i = 0; i < length; i++)
            if (text[i] != plain[i])
                return 3;
    }
    /* A copy of what is not there. */
    static const uint8_t broken[CODED] = {2, 'x', 1, 5};
    return lz77_decode(broken, 4, text) == -1 && lz77_decode(broken, 0, text) == 0 ? 0 : 4;
}
