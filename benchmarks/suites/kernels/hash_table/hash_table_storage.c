/*
 * hash_table: one operation a call on a static table with linear probing. Deleting moves later entries up, so that no
 * gap is left between an entry and its home.
 * Returns the value found, replaced or deleted; -1 if there is none; -2 if the table is full.
 */
#include <stdint.h>

#define SLOTS 32
#define MASK (SLOTS - 1)

enum operation { INSERT, LOOKUP, DELETE, COUNT, CLEAR };

typedef struct {
    uint32_t key;
    int16_t value;
    _Bool used;
} slot_t;

static slot_t slot[SLOTS];

static unsigned home(uint32_t key)
{
#pragma HLS inline off
    return (key * 2654435769u) >> 27;
}

static unsigned find(uint32_t key)
{
    unsigned at = home(key);
probe:
    while (slot[at].used && slot[at].key != key) {
        at = (at + 1) & MASK;
    }
    return at;
}

static void close_gap(unsigned gap)
{
    unsigned at = gap;
    slot[gap].used = 0;
close:
    for (;;) {
        at = (at + 1) & MASK;
        if (!slot[at].used)
            return;
        unsigned away = (at - home(slot[at].key)) & MASK;
        if (away >= ((at - gap) & MASK)) {
            slot[gap] = slot[at];
            slot[at].used = 0;
            gap = at;
        }
    }
}

int hash_table(enum operation operation, uint32_t key, int16_t value)
{
#pragma HLS bind_storage variable=slot type=ram_2p impl=lutram
    static uint8_t count;
    unsigned at;
    int old = -1;

    switch (operation) {
    case CLEAR:
        for (int i = 0; i < SLOTS; i++)
            slot[i].used = 0;
        count = 0;
        return 0;
    case COUNT:
        return count;
    default:
        break;
    }

    at = find(key);
    if (slot[at].used)
        old = slot[at].value;
    if (operation == INSERT) {
        if (!slot[at].used) {
            if (count == SLOTS - 1)
                return -2;
            count++;
        }
        slot[at] = (slot_t){key, value, 1};
    } else if (operation == DELETE && slot[at].used) {
        close_gap(at);
        count--;
    }
    return old;
}

int main(void)
{
    uint32_t keys[SLOTS];
    int values[SLOTS], count = 0; /* the reference: a list */
    uint32_t seed = 1999;
    for (int call = 0; call < 180; call++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t key = (seed >> 16) % 48u * 0x10001u;
        int16_t value = (int16_t)(seed >> 8 & 0x7fff);
        enum operation operation = (seed >> 28) < 7 ? INSERT : (seed >> 28) < 12 ? DELETE : LOOKUP;
        if (call < 40) { /* until it is full */
            operation = INSERT;
            key = (uint32_t)call * 0x10001u;
        }
        if (call % 30 == 29)
            operation = COUNT;
        if (call == 120)
            operation = CLEAR;
        int place = 0, want;
        while (place < count && keys[place] != key)
            place++;
        want = place < count ? values[place] : -1;
        switch (operation) {
        case INSERT:
            if (place == count && count == SLOTS - 1) {
                want = -2;
                break;
            }
            keys[place] = key;
            values[place] = value;
            count += place == count;
            break;
        case DELETE:
            if (place < count) {
                count--;
                keys[place] = keys[count];
                values[place] = values[count];
            }
            break;
        case COUNT:
            want = count;
            break;
        case CLEAR:
            want = count = 0;
            break;
        case LOOKUP:
            break;
        }
        if (hash_table(operation, key, value) != want)
            return 1;
    }
    return 0;
}
