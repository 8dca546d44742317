// Writes each call of the function under test to a file: its arguments before and after, its result.
// trampoline.S comes here; the layout of the arguments is generated (rtlagent_layout.c).
//
// The file: one page of counters, then events. An event is `tag, size, first, second` (8 bytes each)
// and `size` bytes of data.
//   B call -             a call begins
//   a argument address   a scalar's bytes (address 0), or an object's before the call
//   v argument bytes     how much of the object can be used (only where the address sanitizer knows)
//   E call blocks        the call ended; data: rax, rdx, xmm0
//   z argument address   an object's bytes after the call
//   r argument -         an item was read from a stream; data: the item
//   w argument -         an item was written to one
//   F - -                a file could not be opened for reading; data: its name
//   D stimulus reason    a stimulus was dropped
//   S stimulus blocks    a stimulus was used for the call that follows
#define _GNU_SOURCE
#include "record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, DEPTH = 4096 };

struct rtlagent_header *rtlagent_header;
int rtlagent_recording = 1;
volatile uint64_t rtlagent_blocks, rtlagent_block_limit;
int rtlagent_count_ways;
uint64_t rtlagent_new_ways;
uintptr_t rtlagent_last_way;

static int file = -1;
static uint64_t written, recorded;
static void *return_addresses[DEPTH];
static int depth, active;
static const unsigned char *objects[256];
static uint64_t blocks_before;
static char zeros[PAGE];
static unsigned char ways[1 << 16];

static void broken(const char *why) {
    dprintf(2, "recording failed: %s\n", why);
    _exit(RTLAGENT_EXIT_BROKEN);
}

static void put(const void *data, size_t size) {
    const char *next = data;
    while (size > 0) {
        // Not write(): the address sanitizer would check the buffer.
        ssize_t done = syscall(SYS_write, file, next, size);
        if (done <= 0) {
            // The object is not all there (EFAULT): the rest reads as zero.
            size_t part = size < PAGE ? size : PAGE;
            done = syscall(SYS_write, file, zeros, part);
            if (done <= 0) broken("cannot write");
        }
        next += done;
        size -= (size_t)done;
    }
}

void rtlagent_event(char tag, uint64_t first, uint64_t second, const void *data, size_t size) {
    uint64_t head[4] = {(uint64_t)tag, size, first, second};
    put(head, sizeof head);
    put(data, size);
    written += sizeof head + size;
}

void *rtlagent_call_end(const uint64_t *results);

static void at_exit(int status, void *unused) {
    (void)unused;
    if (RTLAGENT_IS_MAIN && depth > 0) {
        // exit() ends main as well as a return does.
        uint64_t results[4] = {(uint32_t)status};
        depth = 1;
        rtlagent_call_end(results);
    }
    rtlagent_header->exited = 1;
    rtlagent_header->status = (uint64_t)status;
}

__attribute__((constructor(101))) static void start(void) {
    const char *name = getenv("RTLAGENT_RECORD");
    file = open(name ? name : "rtlagent_record", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, PAGE) != 0 || lseek(file, PAGE, SEEK_SET) != PAGE) broken("cannot open");
    rtlagent_header = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (rtlagent_header == MAP_FAILED) broken("cannot map");
    // Out of the way of a program that closes or duplicates low descriptors.
    int high = fcntl(file, F_DUPFD_CLOEXEC, 900);
    if (high >= 0) {
        close(file);
        file = high;
    }
    on_exit(at_exit, NULL);
}

static void copy_scalar(unsigned char *to, const struct rtlagent_argument *a, const uint64_t *registers,
                        const unsigned char *stack) {
    if (a->stack >= 0) {
        memcpy(to, stack + a->stack, a->size);
    } else if (a->vector >= 0) {
        memcpy(to, registers + 6 + 2 * a->vector, a->size);
    } else {
        uint64_t both[2] = {registers[a->registers[0]], a->registers[1] >= 0 ? registers[a->registers[1]] : 0};
        memcpy(to, both, a->size);
    }
}

static const unsigned char *object(const struct rtlagent_argument *a, const uint64_t *registers,
                                   const unsigned char *stack) {
    if (a->kind == RTLAGENT_GLOBAL) return a->global;
    uint64_t address;
    if (a->stack >= 0)
        memcpy(&address, stack + a->stack, sizeof address);
    else
        address = registers[a->registers[0]];
    return (const unsigned char *)address;
}

static uint64_t usable(const unsigned char *start, size_t size) {
    if (!start) return 0;
    if (!__asan_region_is_poisoned) return size;
    const unsigned char *bad = __asan_region_is_poisoned((void *)start, size);
    return bad ? (uint64_t)(bad - start) : size;
}

static void record_begin(const uint64_t *registers, const unsigned char *stack) {
    unsigned char scalar[PAGE];
    rtlagent_event('B', rtlagent_header->begun - 1, 0, NULL, 0);
    for (int i = 0; i < rtlagent_argument_count; ++i) {
        const struct rtlagent_argument *a = &rtlagent_arguments[i];
        if (a->kind == RTLAGENT_SCALAR) {
            copy_scalar(scalar, a, registers, stack);
            rtlagent_event('a', (uint64_t)i, 0, scalar, a->size);
        } else {
            objects[i] = object(a, registers, stack);
            rtlagent_event('a', (uint64_t)i, (uint64_t)objects[i], objects[i], a->size);
            rtlagent_event('v', (uint64_t)i, usable(objects[i], a->size), NULL, 0);
        }
    }
}

void rtlagent_return(void);

void rtlagent_call_begin(const uint64_t *registers, unsigned char *stack) {
    if (depth >= DEPTH) broken("the function calls itself too deeply");
    void **return_address = (void **)(stack - sizeof(void *));
    return_addresses[depth++] = *return_address;
    *return_address = (void *)rtlagent_return;
    if (depth > 1 || !rtlagent_recording) return;
    ++rtlagent_header->begun;
    active = recorded < rtlagent_max_calls && written < rtlagent_max_bytes;
    if (active) record_begin(registers, stack);
    blocks_before = rtlagent_blocks;
}

void *rtlagent_call_end(const uint64_t *results) {
    uint64_t blocks = rtlagent_blocks - blocks_before;
    void *back = return_addresses[--depth];
    if (depth > 0 || !rtlagent_recording) return back;
    ++rtlagent_header->ended;
    if (active) {
        rtlagent_event('E', rtlagent_header->begun - 1, blocks, results, 32);
        for (int i = 0; i < rtlagent_argument_count; ++i) {
            const struct rtlagent_argument *a = &rtlagent_arguments[i];
            if (a->kind != RTLAGENT_SCALAR) rtlagent_event('z', (uint64_t)i, (uint64_t)objects[i], objects[i], a->size);
        }
        ++recorded;
        active = 0;
    }
    return back;
}

void rtlagent_stream(const void *stream, int is_write, const void *item, size_t size) {
    if (!active || depth == 0) return;
    for (int i = 0; i < rtlagent_argument_count; ++i) {
        if (rtlagent_arguments[i].kind != RTLAGENT_SCALAR && objects[i] == stream)
            rtlagent_event(is_write ? 'w' : 'r', (uint64_t)i, 0, item, size);
    }
}

// Called at each basic block where the program was built to: a measure of work that does not
// depend on how busy the machine is.
void __sanitizer_cov_trace_pc(void) {
    if (++rtlagent_blocks > rtlagent_block_limit && rtlagent_block_limit) _exit(RTLAGENT_EXIT_TOO_LONG);
    if (!rtlagent_count_ways) return;
    uintptr_t here = (uintptr_t)__builtin_return_address(0);
    unsigned char *way = &ways[(here ^ rtlagent_last_way) % sizeof ways];
    if (!*way) {
        *way = 1;
        ++rtlagent_new_ways;
    }
    rtlagent_last_way = here >> 1;
}

FILE *__real_fopen(const char *name, const char *mode);
FILE *__wrap_fopen(const char *name, const char *mode) {
    FILE *opened = __real_fopen(name, mode);
    if (!opened && name) rtlagent_event('F', 0, 0, name, strlen(name));
    return opened;
}
