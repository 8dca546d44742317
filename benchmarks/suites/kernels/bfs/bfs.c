/* bfs: level[n] becomes the number of edges from `start` to n, -1 if there is no way. Returns how many are reached. */
#define NODES 24
#define EDGES 64

typedef unsigned char node_t;

struct node {
    node_t first_edge, edge_count;
};

struct queue {
    node_t item[32];
    unsigned head, tail;
};

static void push(struct queue *q, node_t n)
{
    q->item[q->tail++ % 32u] = n;
}

static node_t pop(struct queue *q)
{
    return q->item[q->head++ % 32u];
}

int bfs(const struct node node[NODES], const node_t target[EDGES], node_t start, signed char level[NODES])
{
    struct queue waiting;
    int reached = 1;
    waiting.head = waiting.tail = 0;
    for (int n = 0; n < NODES; n++)
        level[n] = -1;
    level[start] = 0;
    push(&waiting, start);
visit:
    while (waiting.head != waiting.tail) {
        node_t here = pop(&waiting);
        int end = node[here].first_edge + node[here].edge_count;
edge:
        for (int e = node[here].first_edge; e < end; e++) {
            node_t next = target[e];
            if (level[next] >= 0)
                continue;
            level[next] = (signed char)(level[here] + 1);
            push(&waiting, next);
            reached++;
        }
    }
    return reached;
}

int main(void)
{
    unsigned seed = 2718;
    for (int call = 0; call < 4; call++) {
        struct node node[NODES];
        node_t target[EDGES] = {0};
        signed char level[NODES] = {0};
        int edges = 0;
        for (int n = 0; n < NODES; n++) {
            seed = seed * 1103515245u + 12345u;
            int count = call == 0 ? n < NODES - 1 : call == 1 ? 0 : (int)(seed >> 16) % 5;
            node[n].first_edge = (node_t)edges;
            for (int k = 0; k < count && edges < EDGES; k++) {
                seed = seed * 1103515245u + 12345u;
                target[edges++] = (node_t)(call == 0 ? (unsigned)n + 1u : (seed >> 20) % NODES);
            }
            node[n].edge_count = (node_t)(edges - node[n].first_edge);
        }
        node_t start = (node_t)(call == 3 ? 11 : 0);
        int reached = bfs(node, target, start, level);
        /* Relax all edges until nothing changes. */
        int distance[NODES], changed = 1;
        for (int n = 0; n < NODES; n++)
            distance[n] = n == start ? 0 : 1000;
        while (changed) {
            changed = 0;
            for (int n = 0; n < NODES; n++)
                for (int k = 0; k < node[n].edge_count; k++) {
                    int *there = &distance[target[node[n].first_edge + k]];
                    if (distance[n] + 1 < *there) {
                        *there = distance[n] + 1;
                        changed = 1;
                    }
                }
        }
        for (int n = 0; n < NODES; n++) {
            reached -= distance[n] < 1000;
            if (level[n] != (distance[n] < 1000 ? distance[n] : -1))
                return call + 1;
        }
        if (reached != 0)
            return 9;
    }
    return 0;
}
