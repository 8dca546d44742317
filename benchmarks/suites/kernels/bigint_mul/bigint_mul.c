/* bigint_mul: product = a * b, least significant limb first. Returns the remainder of division by `modulus`. */
#define LIMBS 8

typedef unsigned int limb_t;
typedef unsigned long long wide_t;

static limb_t remainder_of(const limb_t number[2 * LIMBS], limb_t modulus)
{
    wide_t rest = 0;
    int i = 2 * LIMBS;
    do {
        rest = rest << 32 | number[--i];
        rest %= modulus;
    } while (i != 0);
    return (limb_t)rest;
}

limb_t bigint_mul(const limb_t a[LIMBS], const limb_t b[LIMBS], limb_t product[2 * LIMBS], limb_t modulus)
{
    limb_t result[2 * LIMBS] = {0};
row:
    for (int i = 0; i < LIMBS; i++) {
        limb_t carry = 0, factor = b[i];
limb:
        for (int j = 0; j < LIMBS; j++) {
            wide_t sum = (wide_t)a[j] * factor + result[i + j] + carry;
            result[i + j] = (limb_t)sum;
            carry = (limb_t)(sum >> 32);
        }
        result[i + LIMBS] = carry;
    }
    for (int i = 0; i < 2 * LIMBS; i++)
        product[i] = result[i];
    return modulus ? remainder_of(result, modulus) : 0;
}

/* Column sums of 16-bit digits, carried at the end. */
static void schoolbook(const limb_t *a, const limb_t *b, limb_t *product)
{
    wide_t column[4 * LIMBS] = {0}, carry = 0;
    for (int i = 0; i < 2 * LIMBS; i++)
        for (int j = 0; j < 2 * LIMBS; j++)
            column[i + j] += (wide_t)(a[i / 2] >> i % 2 * 16 & 0xffff) * (b[j / 2] >> j % 2 * 16 & 0xffff);
    for (int k = 0; k < 4 * LIMBS; k++) {
        carry += column[k];
        product[k / 2] = k % 2 ? product[k / 2] | (limb_t)(carry & 0xffff) << 16 : (limb_t)(carry & 0xffff);
        carry >>= 16;
    }
}

/* The remainder by Horner's rule on both factors. */
static limb_t modular(const limb_t *a, const limb_t *b, limb_t modulus)
{
    wide_t x = 0, y = 0;
    for (int bit = 32 * LIMBS - 1; bit >= 0; bit--) {
        x = (2 * x + (a[bit / 32] >> bit % 32 & 1)) % modulus;
        y = (2 * y + (b[bit / 32] >> bit % 32 & 1)) % modulus;
    }
    return (limb_t)(x * y % modulus);
}

int main(void)
{
    static const limb_t moduli[5] = {1, 0xffffffff, 1000000007, 3, 65537};
    wide_t state = 0x9e3779b97f4a7c15ull;
    for (int call = 0; call < 5; call++) {
        limb_t a[LIMBS], b[LIMBS], product[2 * LIMBS] = {0}, expected[2 * LIMBS] = {0};
        for (int i = 0; i < LIMBS; i++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            a[i] = call == 0 ? 0xffffffffu : (limb_t)(state >> 32);
            b[i] = call == 0 ? 0xffffffffu : call == 1 ? i == 3 : (limb_t)(state >> 17);
        }
        limb_t rest = bigint_mul(a, b, product, moduli[call]);
        schoolbook(a, b, expected);
        for (int i = 0; i < 2 * LIMBS; i++)
            if (product[i] != expected[i])
                return 1;
        if (rest != modular(a, b, moduli[call]))
            return 2;
    }
    return 0;
}
