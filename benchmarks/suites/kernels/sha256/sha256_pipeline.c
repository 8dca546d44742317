/* sha256: the message is padded in a local buffer of one or two blocks, then compressed block by block. */
#include <stdint.h>
#include <string.h>

#define MAX_LENGTH 119

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t big_sigma(uint32_t x, int a, int b, int c)
{
    return rotate(x, a) ^ rotate(x, b) ^ rotate(x, c);
}

static void compress(uint32_t hash[8], const uint8_t block[64])
{
    uint32_t word[16];
    uint32_t s[8];
#pragma HLS array_partition variable=word type=complete
#pragma HLS array_partition variable=s type=complete

load:
    for (int i = 0; i < 16; i++) {
        const uint8_t *p = block + 4 * i;
        word[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int i = 0; i < 8; i++)
        s[i] = hash[i];
rounds:
    for (int t = 0; t < 64; t++) {
#pragma HLS pipeline II=2
        uint32_t w = word[t & 15];
        if (t >= 16) {
            uint32_t w15 = word[(t + 1) & 15], w2 = word[(t + 14) & 15];
            w += rotate(w15, 7) ^ rotate(w15, 18) ^ w15 >> 3;
            w += word[(t + 9) & 15];
            w += rotate(w2, 17) ^ rotate(w2, 19) ^ w2 >> 10;
            word[t & 15] = w;
        }
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t t1 = s[7] + big_sigma(s[4], 6, 11, 25) + choice + round_constant[t] + w;
        uint32_t t2 = big_sigma(s[0], 2, 13, 22) + majority;
        for (int i = 7; i > 0; i--)
            s[i] = s[i - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        hash[i] += s[i];
}

int sha256(const uint8_t message[MAX_LENGTH], uint32_t length, uint8_t digest[32])
{
    uint8_t padded[128];
    uint32_t hash[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
#pragma HLS array_partition variable=hash type=complete
    if (length > MAX_LENGTH)
        return -1;

    int blocks = length < 56 ? 1 : 2;
    memset(padded, 0, sizeof padded);
    for (uint32_t i = 0; i < length; i++)
        padded[i] = message[i];
    padded[length] = 0x80;
    padded[64 * blocks - 2] = (uint8_t)(length >> 5);
    padded[64 * blocks - 1] = (uint8_t)(length << 3);
    for (int b = 0; b < blocks; b++)
        compress(hash, padded + 64 * b);
    for (int i = 0; i < 32; i++)
        digest[i] = (uint8_t)(hash[i >> 2] >> (24 - 8 * (i & 3)));
    return blocks;
}

/* Published digests: of "" and of FIPS 180-4's examples; of 111 letters `a` from an independent program. */
static const char *const messages[] = {
    "",
    "abc",
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};
static const char *const digests[] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    "6374f73208854473827f6f6a3f43b1f53eaa3b82c21c1a6d69a2110b2a79baad",
};

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

int main(void)
{
    uint8_t message[MAX_LENGTH] = {0}, digest[32] = {0};
    for (int call = 0; call < 4; call++) {
        uint32_t length = (uint32_t)strlen(messages[call]);
        memcpy(message, messages[call], length);
        if (sha256(message, length, digest) != (length < 56 ? 1 : 2))
            return 1;
        for (int i = 0; i < 32; i++)
            if (digest[i] != digit(digests[call][2 * i]) * 16 + digit(digests[call][2 * i + 1]))
                return 2;
    }
    return sha256(message, MAX_LENGTH + 1, digest) == -1 ? 0 : 3;
}
