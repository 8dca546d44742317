/* md5: one padded block; the message words are read little endian. */
#define MAX_LENGTH 55

typedef unsigned int word;

static const word sine[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const unsigned char turn[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static inline word rotate_left(word x, unsigned n)
{
    return (x << n) | (x >> (32u - n));
}

void md5(const unsigned char message[MAX_LENGTH], unsigned char length, word digest[4])
{
    word block[16];
    word a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;

pack:
    for (int i = 0; i < 16; i++) {
        word packed = 0;
        for (int k = 3; k >= 0; k--) {
            int at = 4 * i + k;
            word byte = at < length ? message[at] : at == length ? 0x80u : 0u;
            packed = packed << 8 | byte;
        }
        block[i] = packed;
    }
    block[14] = (word)length * 8u;

step:
    for (unsigned i = 0; i < 64; i++) {
        word mixed;
        unsigned index;
        switch (i / 16) {
        case 0:
            mixed = (b & c) | (~b & d);
            index = i;
            break;
        case 1:
            mixed = (d & b) | (~d & c);
            index = 5 * i + 1;
            break;
        case 2:
            mixed = b ^ c ^ d;
            index = 3 * i + 5;
            break;
        default:
            mixed = c ^ (b | ~d);
            index = 7 * i;
            break;
        }
        mixed += a + sine[i] + block[index % 16];
        a = d;
        d = c;
        c = b;
        b += rotate_left(mixed, turn[i / 16][i % 4]);
    }
    digest[0] = 0x67452301u + a;
    digest[1] = 0xefcdab89u + b;
    digest[2] = 0x98badcfeu + c;
    digest[3] = 0x10325476u + d;
}

struct vector {
    const char *text;
    word digest[4];
};

/* RFC 1321, A.5; digests as little-endian words. */
static const struct vector vectors[] = {
    {"", {0xd98c1dd4u, 0x04b2008fu, 0x980980e9u, 0x7e42f8ecu}},
    {"a", {0xb975c10cu, 0xa8b6f1c0u, 0xe299c331u, 0x61267769u}},
    {"abc", {0x98500190u, 0xb04fd23cu, 0x7d3f96d6u, 0x727fe128u}},
    {"message digest", {0x7d696bf9u, 0x8d93b77cu, 0x312f5a52u, 0xd061f1aau}},
    {"abcdefghijklmnopqrstuvwxyz", {0xd7d3fcc3u, 0x00e49261u, 0x6c49fb7du, 0x3be167cau}},
};

int main(void)
{
    for (unsigned v = 0; v < sizeof vectors / sizeof vectors[0]; v++) {
        unsigned char message[MAX_LENGTH] = {0};
        unsigned char length = 0;
        word digest[4] = {0, 0, 0, 0};
        while (vectors[v].text[length] != '\0') {
            message[length] = (unsigned char)vectors[v].text[length];
            length++;
        }
        md5(message, length, digest);
        for (int i = 0; i < 4; i++)
            if (digest[i] != vectors[v].digest[i])
                return 1;
    }
    return 0;
}
