/* matmul: c = a * b. */
#define N 8

void matmul(const short a[N][N], const short b[N][N], int c[N][N])
{
row:
    for (int i = 0; i < N; i++) {
col:
        for (int j = 0; j < N; j++) {
            int sum = 0;
product:
            for (int k = 0; k < N; k++) {
#pragma HLS pipeline II=1
                sum += a[i][k] * b[k][j];
            }
            c[i][j] = sum;
        }
    }
}

int main(void)
{
    short a[N][N], b[N][N];
    int c[N][N] = {{0}};
    unsigned r = 2463534242u;
    for (int call = 0; call < 4; call++) {
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                r ^= r << 13;
                r ^= r >> 17;
                r ^= r << 5;
                a[i][j] = call == 0 ? (i == j) : call == 1 ? -16000 : (short)(r % 32001u - 16000);
                b[i][j] = call == 1 ? 16000 : (short)((r >> 8) % 32001u - 16000);
            }
        }
        matmul(a, b, c);
        /* The reference adds outer products: column k of a times row k of b. */
        long long expected[N][N] = {{0}};
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    expected[i][j] += (long long)a[i][k] * b[k][j];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (c[i][j] != expected[i][j])
                    return 1;
    }
    return 0;
}
