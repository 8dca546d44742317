/* floyd_warshall: `reach` is the module's memory; FAR means no edge or no way. Returns the longest finite distance. */
#define NODES 10
#define FAR 0x3fffffff

int reach[NODES][NODES];

int floyd_warshall(void)
{
    int longest = 0;
via:
    for (int k = 0; k < NODES; k++) {
from:
        for (int i = 0; i < NODES; i++) {
to:
            for (int j = 0; j < NODES; j++) {
#pragma HLS pipeline
#pragma HLS loop_flatten
                int detour = reach[i][k] + reach[k][j];
                if (detour < reach[i][j])
                    reach[i][j] = detour;
            }
        }
    }
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++)
            if (reach[i][j] < FAR && reach[i][j] > longest)
                longest = reach[i][j];
    return longest;
}

int main(void)
{
    static int edge[NODES][NODES], walk[NODES][NODES], longer[NODES][NODES];
    unsigned seed = 55;
    for (int call = 0; call < 2; call++) {
        for (int i = 0; i < NODES; i++)
            for (int j = 0; j < NODES; j++) {
                seed = seed * 69069u + 1u;
                int there = (seed >> 16) % (call ? 4u : 2u) == 0;
                edge[i][j] = i == j ? 0 : there ? (int)(seed >> 22) + 1 : FAR;
                reach[i][j] = walk[i][j] = edge[i][j];
            }
        int longest = floyd_warshall();
        /* Shortest walks of up to 1, 2, ... 9 edges. */
        for (int n = 1; n < NODES; n++) {
            for (int p = 0; p < NODES * NODES; p++) {
                int i = p / NODES, j = p % NODES;
                longer[i][j] = FAR;
                for (int k = 0; k < NODES; k++)
                    if (walk[i][k] < FAR && edge[k][j] < FAR && walk[i][k] + edge[k][j] < longer[i][j])
                        longer[i][j] = walk[i][k] + edge[k][j];
            }
            for (int p = 0; p < NODES * NODES; p++)
                walk[p / NODES][p % NODES] = longer[p / NODES][p % NODES];
        }
        int greatest = 0;
        for (int p = 0; p < NODES * NODES; p++) {
            int want = walk[p / NODES][p % NODES];
            if (reach[p / NODES][p % NODES] != want)
                return 1;
            if (want < FAR && want > greatest)
                greatest = want;
        }
        if (longest != greatest)
            return 2;
    }
    return 0;
}
