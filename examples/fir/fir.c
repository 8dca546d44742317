/*
 * A 16-tap FIR low-pass filter: the first example of C turned into hardware.
 *
 *     rtlagent generate examples/fir/fir.c --top fir --target ecp5 --clock 10ns
 *
 * `fir` becomes a Verilog module. Its two arrays become memory ports: the module reads `x` and writes `y`.
 * `main` is not hardware: it is the test bench, which runs natively, and whose calls of `fir` the hardware has to
 * repeat bit for bit.
 */
#include <stdio.h>

#define TAPS 16    /* coefficients */
#define SAMPLES 64 /* samples in a call */

/* The filter's impulse response as fractions of 32768 (Q15); never written, so it becomes constants. */
static const short coefficient[TAPS] = {
    -96, -243, -255, 345, 1547, 3291, 4966, 5600, 5600, 4966, 3291, 1547, 345, -255, -243, -96,
};

void fir(const short x[SAMPLES], short y[SAMPLES])
{
    short window[TAPS]; /* the newest 16 samples, the newest first */

    /* Without this line the window is one memory, which gives one or two values a cycle. In registers all can be
     * read at once. */
#pragma HLS array_partition variable=window type=complete

clear:
    for (int k = 0; k < TAPS; k++) {
#pragma HLS unroll
        window[k] = 0;
    }

sample:
    for (int n = 0; n < SAMPLES; n++) {
        /* Start a sample in every cycle. The two loops inside are unrolled for it: sixteen multipliers. */
#pragma HLS pipeline II=1
shift:
        for (int k = TAPS - 1; k > 0; k--)
            window[k] = window[k - 1];
        window[0] = x[n];

        int sum = 0;
tap:
        for (int k = 0; k < TAPS; k++)
            sum += coefficient[k] * window[k];
        y[n] = (short)(sum >> 15);
    }
}

/* The sum as the textbook has it, for comparison: y[n] = c[0] x[n] + c[1] x[n-1] + ... + c[15] x[n-15]. */
static short expected(const short *x, int n)
{
    int sum = 0;
    for (int k = 0; k < TAPS && k <= n; k++)
        sum += coefficient[k] * x[n - k];
    return (short)(sum >> 15);
}

int main(void)
{
    short x[SAMPLES], y[SAMPLES];
    unsigned noise = 1;
    int wrong = 0;

    /* An impulse, a step, and noise. */
    for (int call = 0; call < 3; call++) {
        for (int n = 0; n < SAMPLES; n++) {
            noise = noise * 1103515245u + 12345u;
            if (call == 0)
                x[n] = n == 0 ? 32767 : 0;
            else if (call == 1)
                x[n] = n < SAMPLES / 2 ? 0 : -32768;
            else
                x[n] = (short)((int)(noise >> 16) - 32768);
            y[n] = 0;
        }
        fir(x, y);
        for (int n = 0; n < SAMPLES; n++) {
            if (y[n] != expected(x, n)) {
                printf("call %d: y[%d] is %d, expected %d\n", call, n, y[n], expected(x, n));
                wrong++;
            }
        }
    }
    return wrong ? 1 : 0; /* 0 tells that the test bench is content */
}
