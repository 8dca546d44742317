/* merge_sort: sorts 32 records by key, keeping the order of equal keys. */
#define N 32

typedef struct {
    short key;
    unsigned char tag;
} record_t;

void merge_sort(record_t record[N])
{
    record_t spare[N];
#pragma HLS bind_storage variable=spare type=ram_2p impl=lutram
    record_t *from = record, *to = spare;

width:
    for (int width = 1; width < N; width <<= 1) {
        for (int start = 0; start < N; start += 2 * width) {
            int left = start;
            int middle = start + width < N ? start + width : N;
            int end = start + 2 * width < N ? start + 2 * width : N;
            int right = middle;
merge:
            for (int k = start; k < end; k++) {
                if (left < middle && (right >= end || from[left].key <= from[right].key))
                    to[k] = from[left++];
                else
                    to[k] = from[right++];
            }
        }
        record_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != record)
copy:
        for (int i = 0; i < N; i++)
            record[i] = from[i];
}

int main(void)
{
    unsigned seed = 5;
    for (int call = 0; call < 3; call++) {
        record_t record[N], original[N];
        for (int i = 0; i < N; i++) {
            seed = seed * 69069u + 5u;
            record[i].key = (short)(call == 0 ? -i : (int)(seed >> (call == 1 ? 30 : 16)) - 32768);
            record[i].tag = (unsigned char)i;
            original[i] = record[i];
        }
        merge_sort(record);
        unsigned long seen = 0;
        for (int i = 0; i < N; i++) {
            if (original[record[i].tag].key != record[i].key)
                return 1;
            seen |= 1ul << record[i].tag;
            if (i == 0)
                continue;
            if (record[i - 1].key > record[i].key)
                return 2;
            if (record[i - 1].key == record[i].key && record[i - 1].tag > record[i].tag)
                return 3;
        }
        if (seen != 0xfffffffful)
            return 4;
    }
    return 0;
}
