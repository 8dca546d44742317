/* base64: RFC 4648 with padding. Returns the length of the result, or -1 for text that is not base64. */
#define MAX_BYTES 48
#define MAX_TEXT 64

enum direction { ENCODE, DECODE };

static const char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int base64(enum direction way, unsigned char bytes[MAX_BYTES], char text[MAX_TEXT], int length)
{
    int out = 0;
    switch (way) {
    case ENCODE:
encode:
        for (int i = 0; i < length; i += 3) {
#pragma HLS pipeline II=4
            unsigned group = (unsigned)bytes[i] << 16;
            if (i + 1 < length)
                group |= (unsigned)bytes[i + 1] << 8;
            if (i + 2 < length)
                group |= bytes[i + 2];
            text[out++] = alphabet[group >> 18];
            text[out++] = alphabet[group >> 12 & 63];
            text[out++] = i + 1 < length ? alphabet[group >> 6 & 63] : '=';
            text[out++] = i + 2 < length ? alphabet[group & 63] : '=';
        }
        return out;
    case DECODE:
        if (length % 4 != 0)
            return -1;
decode:
        for (int i = 0; i < length; i += 4) {
            unsigned group = 0;
            int padding = 0;
character:
            for (int k = 0; k < 4; k++) {
                char c = text[i + k];
                int v = value_of(c);
                if (c == '=' && i + 4 == length && k >= 2) {
                    padding++;
                    v = 0;
                } else if (padding > 0) {
                    return -1;
                }
                if (v < 0)
                    return -1;
                group = group << 6 | (unsigned)v;
            }
            for (int k = 0; k < 3 - padding; k++)
                bytes[out++] = (unsigned char)(group >> (16 - 8 * k));
        }
        return out;
    }
    return -1;
}

static int same(const char *a, const char *b, int n)
{
    while (n > 0 && a[n - 1] == b[n - 1])
        n--;
    return n == 0;
}

int main(void)
{
    static const char *plain[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
    /* The test vectors of RFC 4648. */
    static const char *coded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    static const char *bad[] = {"Zg=", "Z===", "Zg==Zg==", "Zm8-", "Z=8="};
    unsigned char bytes[MAX_BYTES] = {0};
    char text[MAX_TEXT] = {0};
    for (int i = 0; i < 7; i++) {
        int size = (i + 2) / 3 * 4;
        for (int k = 0; k < i; k++)
            bytes[k] = (unsigned char)plain[i][k];
        if (base64(ENCODE, bytes, text, i) != size || !same(text, coded[i], size))
            return 1;
        for (int k = 0; k < i; k++)
            bytes[k] = 0;
        if (base64(DECODE, bytes, text, size) != i || !same((char *)bytes, plain[i], i))
            return 2;
    }
    for (int i = 0; i < 5; i++) {
        int size = 0;
        while (bad[i][size])
            text[size] = bad[i][size], size++;
        if (base64(DECODE, bytes, text, size) != -1)
            return 3;
    }
    for (int i = 0; i < MAX_BYTES; i++)
        bytes[i] = (unsigned char)(i * 89 + 200);
    if (base64(ENCODE, bytes, text, MAX_BYTES) != MAX_TEXT)
        return 4;
    for (int i = 0; i < MAX_BYTES; i++)
        bytes[i] = 0;
    if (base64(DECODE, bytes, text, MAX_TEXT) != MAX_BYTES)
        return 5;
    for (int i = 0; i < MAX_BYTES; i++)
        if (bytes[i] != (unsigned char)(i * 89 + 200))
            return 6;
    return 0;
}
