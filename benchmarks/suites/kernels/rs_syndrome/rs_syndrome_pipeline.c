/* rs_syndrome: returns 0 for a code word, 1 + place of a byte that was corrected, -1 for more errors. */
#include <stdint.h>

#define LENGTH 32
#define CHECKS 6

static const uint8_t gf_exp[255] = {
    1, 2, 4, 8, 16, 32, 64, 128, 29, 58, 116, 232, 205, 135, 19, 38, 76, 152, 45, 90,
    180, 117, 234, 201, 143, 3, 6, 12, 24, 48, 96, 192, 157, 39, 78, 156, 37, 74, 148, 53,
    106, 212, 181, 119, 238, 193, 159, 35, 70, 140, 5, 10, 20, 40, 80, 160, 93, 186, 105, 210,
    185, 111, 222, 161, 95, 190, 97, 194, 153, 47, 94, 188, 101, 202, 137, 15, 30, 60, 120, 240,
    253, 231, 211, 187, 107, 214, 177, 127, 254, 225, 223, 163, 91, 182, 113, 226, 217, 175, 67, 134,
    17, 34, 68, 136, 13, 26, 52, 104, 208, 189, 103, 206, 129, 31, 62, 124, 248, 237, 199, 147,
    59, 118, 236, 197, 151, 51, 102, 204, 133, 23, 46, 92, 184, 109, 218, 169, 79, 158, 33, 66,
    132, 21, 42, 84, 168, 77, 154, 41, 82, 164, 85, 170, 73, 146, 57, 114, 228, 213, 183, 115,
    230, 209, 191, 99, 198, 145, 63, 126, 252, 229, 215, 179, 123, 246, 241, 255, 227, 219, 171, 75,
    150, 49, 98, 196, 149, 55, 110, 220, 165, 87, 174, 65, 130, 25, 50, 100, 200, 141, 7, 14,
    28, 56, 112, 224, 221, 167, 83, 166, 81, 162, 89, 178, 121, 242, 249, 239, 195, 155, 43, 86,
    172, 69, 138, 9, 18, 36, 72, 144, 61, 122, 244, 245, 247, 243, 251, 235, 203, 139, 11, 22,
    44, 88, 176, 125, 250, 233, 207, 131, 27, 54, 108, 216, 173, 71, 142,
};

static const uint8_t gf_log[256] = {
    0, 0, 1, 25, 2, 50, 26, 198, 3, 223, 51, 238, 27, 104, 199, 75, 4, 100, 224, 14,
    52, 141, 239, 129, 28, 193, 105, 248, 200, 8, 76, 113, 5, 138, 101, 47, 225, 36, 15, 33,
    53, 147, 142, 218, 240, 18, 130, 69, 29, 181, 194, 125, 106, 39, 249, 185, 201, 154, 9, 120,
    77, 228, 114, 166, 6, 191, 139, 98, 102, 221, 48, 253, 226, 152, 37, 179, 16, 145, 34, 136,
    54, 208, 148, 206, 143, 150, 219, 189, 241, 210, 19, 92, 131, 56, 70, 64, 30, 66, 182, 163,
    195, 72, 126, 110, 107, 58, 40, 84, 250, 133, 186, 61, 202, 94, 155, 159, 10, 21, 121, 43,
    78, 212, 229, 172, 115, 243, 167, 87, 7, 112, 192, 247, 140, 128, 99, 13, 103, 74, 222, 237,
    49, 197, 254, 24, 227, 165, 153, 119, 38, 184, 180, 124, 17, 68, 146, 217, 35, 32, 137, 46,
    55, 63, 209, 91, 149, 188, 207, 205, 144, 135, 151, 178, 220, 252, 190, 97, 242, 86, 211, 171,
    20, 42, 93, 158, 132, 60, 57, 83, 71, 109, 65, 162, 31, 45, 67, 216, 183, 123, 164, 118,
    196, 23, 73, 236, 127, 12, 111, 246, 108, 161, 59, 82, 41, 157, 85, 170, 251, 96, 134, 177,
    187, 204, 62, 90, 203, 89, 95, 176, 156, 169, 160, 81, 11, 245, 22, 235, 122, 117, 44, 215,
    79, 174, 213, 233, 230, 231, 173, 232, 116, 214, 244, 234, 168, 80, 88, 175,
};

static uint8_t times_power(uint8_t x, int power)
{
    int sum = gf_log[x] + power;
    if (x == 0)
        return 0;
    return gf_exp[sum >= 255 ? sum - 255 : sum];
}

int rs_syndrome(uint8_t word[LENGTH], uint8_t syndrome[CHECKS])
{
    uint8_t s[CHECKS] = {0};
    uint8_t any = 0;
#pragma HLS array_partition variable=s type=complete
#pragma HLS bind_storage variable=gf_exp type=rom_np impl=lutram
#pragma HLS bind_storage variable=gf_log type=rom_np impl=lutram

byte:
    for (int i = 0; i < LENGTH; i++) {
#pragma HLS pipeline II=2
horner:
        for (int k = 0; k < CHECKS; k++)
            s[k] = times_power(s[k], k) ^ word[i];
    }
    for (int k = 0; k < CHECKS; k++) {
        syndrome[k] = s[k];
        any |= s[k];
    }
    if (any == 0)
        return 0;
    if (s[0] == 0 || s[1] == 0)
        return -1;
    int ratio = gf_log[s[1]] - gf_log[s[0]]; /* the place, counted from the end */
    if (ratio < 0)
        ratio += 255;
    if (ratio >= LENGTH)
        return -1;
    for (int k = 1; k < CHECKS; k++)
        if (s[k] != times_power(s[k - 1], ratio))
            return -1;
    word[LENGTH - 1 - ratio] ^= s[0];
    return LENGTH - ratio;
}

static unsigned multiply(unsigned a, unsigned b)
{
    unsigned product = 0;
    while (b != 0) {
        if (b & 1)
            product ^= a;
        a = a & 0x80 ? (a << 1) ^ 0x11d : a << 1;
        b >>= 1;
    }
    return product;
}

/* Check bytes: the remainder of division by (x - 1)(x - 2)(x - 4) ... */
static void encode(uint8_t *word)
{
    unsigned generator[CHECKS + 1] = {1}, root = 1, rest[CHECKS] = {0};
    for (int k = 0; k < CHECKS; k++) {
        for (int i = k + 1; i > 0; i--)
            generator[i] ^= multiply(generator[i - 1], root);
        root = multiply(root, 2);
    }
    for (int i = 0; i < LENGTH - CHECKS; i++) {
        unsigned lead = rest[0] ^ word[i];
        for (int k = 0; k < CHECKS; k++)
            rest[k] = (k + 1 < CHECKS ? rest[k + 1] : 0) ^ multiply(lead, generator[k + 1]);
    }
    for (int k = 0; k < CHECKS; k++)
        word[LENGTH - CHECKS + k] = (uint8_t)rest[k];
}

int main(void)
{
    uint32_t seed = 65;
    for (int call = 0; call < 8; call++) {
        uint8_t word[LENGTH], original[LENGTH], syndrome[CHECKS] = {0};
        for (int i = 0; i < LENGTH; i++) {
            seed = seed * 1664525u + 1013904223u;
            word[i] = call == 0 ? 0 : (uint8_t)(seed >> 24);
        }
        encode(word);
        for (int i = 0; i < LENGTH; i++)
            original[i] = word[i];
        int place = call < 2 ? -1 : call == 2 ? 0 : call == 3 ? LENGTH - 1 : (int)(seed >> 16) % LENGTH;
        if (place >= 0)
            word[place] ^= (uint8_t)(call * 31 + 1);
        if (call == 7)
            word[(place + 9) % LENGTH] ^= 0x5a;
        unsigned expected[CHECKS] = {0}, root = 1;
        for (int k = 0; k < CHECKS; k++) {
            unsigned power = 1;
            for (int i = LENGTH - 1; i >= 0; i--) {
                expected[k] ^= multiply(word[i], power);
                power = multiply(power, root);
            }
            root = multiply(root, 2);
        }
        int result = rs_syndrome(word, syndrome);
        for (int k = 0; k < CHECKS; k++)
            if (syndrome[k] != expected[k])
                return 1;
        if (result != (call == 7 ? -1 : place + 1))
            return 2;
        for (int i = 0; i < LENGTH && call != 7; i++)
            if (word[i] != original[i])
                return 3;
    }
    return 0;
}
