/* cordic: angle in units of 2 pi / 2^32; results in Q28 (Volder, 1959). */
#include <stdint.h>

#define STEPS 24
#define PI_EIGHTH 421657428 /* in Q30 */
#define GAIN 163008219 /* the product of cos(atan(2^-i)), in Q28 */

/* atan(2^-i) in radians, in Q28. */
static const int32_t arctangent[STEPS] = {
    210828714, 124459457, 65760959, 33381290, 16755422, 8385879, 4193963, 2097109,
    1048571, 524287, 262144, 131072, 65536, 32768, 16384, 8192,
    4096, 2048, 1024, 512, 256, 128, 64, 32,
};

void cordic(uint32_t angle, int32_t *sine, int32_t *cosine)
{
    /* Quarter turns first: what remains lies between -45 and 45 degrees. */
    unsigned quarter = (angle + 0x20000000u) >> 30;
    int32_t rest = (int32_t)(angle - (quarter << 30));
    int32_t z = (int32_t)(((int64_t)rest * PI_EIGHTH) >> 30); /* in radians */
    int32_t x = GAIN, y = 0;
rotate:
    for (int i = 0; i < STEPS; i++) {
#pragma HLS unroll
        int32_t dx = y >> i, dy = x >> i;
        if (z >= 0) {
            x -= dx;
            y += dy;
            z -= arctangent[i];
        } else {
            x += dx;
            y -= dy;
            z += arctangent[i];
        }
    }
    switch (quarter & 3) {
    case 0:
        *sine = y;
        *cosine = x;
        break;
    case 1:
        *sine = x;
        *cosine = -y;
        break;
    case 2:
        *sine = -y;
        *cosine = -x;
        break;
    case 3:
        *sine = -x;
        *cosine = y;
        break;
    }
}

/* Power series in floating point: native only. */
static double series(double x, int first)
{
    double term = first ? x : 1.0, sum = 0.0;
    for (int k = first; k < 30; k += 2) {
        sum += term;
        term *= -x * x / ((k + 1) * (k + 2));
    }
    return sum;
}

int main(void)
{
    uint32_t seed = 6283;
    for (int call = 0; call < 24; call++) {
        seed = seed * 1664525u + 1013904223u;
        /* Every eighth of a turn and its neighbours, then any angle. */
        uint32_t angle = call < 16 ? ((uint32_t)call / 2 << 29) - (uint32_t)(call & 1) : seed;
        int32_t sine = 0, cosine = 0;
        cordic(angle, &sine, &cosine);
        double radians = (int32_t)angle * (3.14159265358979323846 / 2147483648.0);
        double off_sine = sine - series(radians, 1) * 268435456.0;
        double off_cosine = cosine - series(radians, 0) * 268435456.0;
        if (off_sine > 100 || off_sine < -100 || off_cosine > 100 || off_cosine < -100)
            return 1;
    }
    return 0;
}
