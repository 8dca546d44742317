/*
 * huffman_decode: `lengths` has the code length of each of 32 symbols (0: unused, at most 10). Codes of a length
 * follow each other in the order of symbols. Returns how many symbols were decoded before `bits` ran out, or -1 for
 * a code that no symbol has.
 */
#include <stdint.h>

#define SYMBOLS 32
#define MAX_BITS 10
#define STREAM 64
#define OUTPUT 96

static unsigned next_bit(const uint8_t stream[STREAM], int at)
{
    return stream[at >> 3] >> (7 - (at & 7)) & 1u;
}

int huffman_decode(const uint8_t lengths[SYMBOLS], const uint8_t stream[STREAM], int bits, uint8_t text[OUTPUT])
{
    uint8_t count[MAX_BITS + 1] = {0};
    uint8_t offset[MAX_BITS + 1];
    uint8_t sorted[SYMBOLS];
    int used = 0;

    for (int s = 0; s < SYMBOLS; s++)
        count[lengths[s]]++;
    count[0] = 0;
    for (int n = 0; n <= MAX_BITS; n++) {
        offset[n] = (uint8_t)used;
        used += count[n];
    }
    for (int s = 0; s < SYMBOLS; s++)
        if (lengths[s] != 0)
            sorted[offset[lengths[s]]++] = (uint8_t)s;

    int at = 0, decoded = 0;
symbol:
    while (at < bits && decoded < OUTPUT) {
#pragma HLS loop_tripcount min=0 max=96 avg=60
        unsigned code = 0, first = 0;
        int index = 0, n = 1;
bit:
        for (;;) {
#pragma HLS loop_tripcount min=1 max=10 avg=4
            if (at >= bits || n > MAX_BITS)
                return n > MAX_BITS ? -1 : decoded;
            code |= next_bit(stream, at++);
            if (code - first < count[n]) {
                text[decoded++] = sorted[index + (int)(code - first)];
                break;
            }
            index += count[n];
            first = (first + count[n]) << 1;
            code <<= 1;
            n++;
        }
    }
    return decoded;
}

/* Code of a symbol: the sum of 2^-length over all symbols before it, as a binary fraction. */
static unsigned code_of(const uint8_t *lengths, int symbol)
{
    unsigned sum = 0;
    for (int s = 0; s < SYMBOLS; s++)
        if (lengths[s] != 0 && (lengths[s] < lengths[symbol] || (lengths[s] == lengths[symbol] && s < symbol)))
            sum += 1u << (MAX_BITS - lengths[s]);
    return sum >> (MAX_BITS - lengths[symbol]);
}

int main(void)
{
    static const uint8_t tables[3][SYMBOLS] = {
        {2, 3, 3, 3, 4, 0, 4, 0, 5, 5, 5, 6, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
        {10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    };
    unsigned seed = 123;
    for (int call = 0; call < 3; call++) {
        uint8_t stream[STREAM] = {0}, text[OUTPUT] = {0}, wanted[OUTPUT];
        int bits = 0, symbols = 0;
        while (symbols < OUTPUT) {
            seed = seed * 1103515245u + 12345u;
            int symbol = (int)(seed >> 27);
            int length = tables[call][symbol];
            if (length == 0)
                continue;
            if (bits + length > 8 * STREAM)
                break;
            unsigned code = code_of(tables[call], symbol);
            for (int b = length - 1; b >= 0; b--, bits++)
                stream[bits / 8] |= (uint8_t)((code >> b & 1u) << (7 - bits % 8));
            wanted[symbols++] = (uint8_t)symbol;
        }
        if (huffman_decode(tables[call], stream, bits, text) != symbols)
            return 1;
        for (int i = 0; i < symbols; i++)
            if (text[i] != wanted[i])
                return 2;
    }
    /* Ones are no code of the first table, which leaves some unused; nor is half a code a symbol. */
    uint8_t ones[STREAM], text[OUTPUT] = {0};
    for (int i = 0; i < STREAM; i++)
        ones[i] = 255;
    return huffman_decode(tables[0], ones, 40, text) == -1 && huffman_decode(tables[2], ones, 1, text) == 0 ? 0 : 3;
}
