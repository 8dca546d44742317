/* viterbi: 30 bits, then two zeros that end the path in state 0. Returns how many errors the channel made. */
#define STEPS 32
#define STATES 4

/* The two code bits (generators 7 and 5) for state (newest bit high) and input. */
static const unsigned char branch_output[STATES][2] = {{0, 3}, {3, 0}, {2, 1}, {1, 2}};

static int distance(unsigned x, unsigned y)
{
    unsigned d = x ^ y;
    return (int)((d >> 1 & 1u) + (d & 1u));
}

int viterbi(const unsigned char received[STEPS], unsigned char decided[STEPS])
{
    unsigned char survivor[STEPS][STATES];
    unsigned char metric[STATES] = {0, 100, 100, 100}; /* the coder starts in state 0 */

symbol:
    for (int t = 0; t < STEPS; t++) {
        unsigned char next[STATES];
state:
        for (int to = 0; to < STATES; to++) {
            int bit = to >> 1;
            int a = (to & 1) << 1, b = a | 1;
            int via_a = metric[a] + distance(received[t], branch_output[a][bit]);
            int via_b = metric[b] + distance(received[t], branch_output[b][bit]);
            if (via_b < via_a) {
                next[to] = (unsigned char)via_b;
                survivor[t][to] = (unsigned char)b;
            } else {
                next[to] = (unsigned char)via_a;
                survivor[t][to] = (unsigned char)a;
            }
        }
        for (int s = 0; s < STATES; s++)
            metric[s] = next[s];
    }

    int s = 0, t = STEPS;
traceback:
    while (t-- > 0) {
#pragma HLS pipeline II=2
#pragma HLS loop_tripcount min=32 max=32
        decided[t] = (unsigned char)(s >> 1);
        s = survivor[t][s];
    }
    return metric[0];
}

static void encode(const unsigned char *bits, unsigned char *symbols)
{
    unsigned history = 0;
    for (int t = 0; t < STEPS; t++) {
        history = (history << 1 | bits[t]) & 7u;
        unsigned first = (history ^ history >> 1 ^ history >> 2) & 1u;
        unsigned second = (history ^ history >> 2) & 1u;
        symbols[t] = (unsigned char)(first << 1 | second);
    }
}

/* Least number of errors that any code word explains, from the end to the beginning. */
static int least_errors(const unsigned char *received)
{
    int cost[8] = {0, 99, 99, 99};
    for (int t = STEPS - 1; t >= 0; t--) {
        int before[4];
        for (unsigned state = 0; state < 4; state++) { /* newest bit low, unlike in the decoder */
            before[state] = 999;
            for (unsigned bit = 0; bit < 2; bit++) {
                unsigned history = state << 1 | bit;
                unsigned parity7 = (history ^ history >> 1 ^ history >> 2) & 1u;
                unsigned parity5 = (history ^ history >> 2) & 1u;
                int errors = (parity7 != (received[t] >> 1 & 1u)) + (parity5 != (received[t] & 1u));
                if (cost[history & 3u] + errors < before[state])
                    before[state] = cost[history & 3u] + errors;
            }
        }
        for (int state = 0; state < 4; state++)
            cost[state] = before[state];
    }
    return cost[0];
}

int main(void)
{
    static const int flips[4] = {0, 1, 3, 40};
    unsigned seed = 4711;
    for (int call = 0; call < 4; call++) {
        unsigned char bits[STEPS], symbols[STEPS], decided[STEPS] = {0}, again[STEPS];
        for (int t = 0; t < STEPS; t++) {
            seed = seed * 69069u + 1u;
            bits[t] = t < STEPS - 2 ? seed >> 31 : 0;
        }
        encode(bits, symbols);
        for (int e = 0; e < flips[call]; e++) /* up to three errors, far apart; then many */
            symbols[flips[call] < 4 ? 3 + 10 * e : (e * 7) % STEPS] ^= (unsigned char)(1 + (e & 1));
        int errors = viterbi(symbols, decided);
        if (flips[call] < 4)
            for (int t = 0; t < STEPS; t++)
                if (decided[t] != bits[t])
                    return 1;
        if (errors != least_errors(symbols))
            return 2;
        encode(decided, again);
        for (int t = 0; t < STEPS; t++)
            errors -= ((again[t] ^ symbols[t]) & 1) + ((again[t] ^ symbols[t]) >> 1);
        if (errors != 0)
            return 3;
    }
    return 0;
}
