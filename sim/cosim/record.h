// What the recorder, the driver and the generated rtlagent_layout.c agree upon.
#ifndef RTLAGENT_RECORD_H_
#define RTLAGENT_RECORD_H_

#include <stddef.h>
#include <stdint.h>

enum rtlagent_kind { RTLAGENT_SCALAR, RTLAGENT_ARRAY, RTLAGENT_GLOBAL };

// Where an argument is at the moment of the call.
struct rtlagent_argument {
    enum rtlagent_kind kind;
    size_t size;     // bytes: of the scalar, or of the object behind the pointer
    int registers[2];  // integer registers of its first and second eight bytes; -1: none
    int vector;      // vector register, or -1
    long stack;      // offset in the stack arguments, or -1
    unsigned char *global;
    int writable;
    size_t element;  // bytes of one element that may hold any value; 0: there is none
};

extern const struct rtlagent_argument rtlagent_arguments[];
extern const int rtlagent_argument_count;

// The bounds of a recording, and the files' names; set by the generated rtlagent_layout.c.
extern const uint64_t rtlagent_max_calls;
extern const uint64_t rtlagent_max_bytes;

// Generated: calls the function with the arguments at these places.
void rtlagent_invoke(unsigned char *const *values);

// The first page of the record file; shared, so that it survives any crash.
struct rtlagent_header {
    uint64_t begun, ended;  // calls
    uint64_t exited;        // 1: through exit() or the end of main, with `status`
    uint64_t status;
};

extern struct rtlagent_header *rtlagent_header;
extern int rtlagent_recording;
extern volatile uint64_t rtlagent_blocks, rtlagent_block_limit;
// How often the program went from one basic block to another as it never had in this process or
// the ones that it comes from; counted where rtlagent_count_ways is set.
extern int rtlagent_count_ways;
extern uint64_t rtlagent_new_ways;
extern uintptr_t rtlagent_last_way;

enum { RTLAGENT_EXIT_TOO_LONG = 77, RTLAGENT_EXIT_BROKEN = 78 };

// hls_stream.h calls this, where it is linked, for each item that a stream takes or gives.
void rtlagent_stream(const void *stream, int is_write, const void *item, size_t size);

// Present only in a program built with the address sanitizer.
extern void *__asan_region_is_poisoned(void *start, size_t size) __attribute__((weak));

void rtlagent_event(char tag, uint64_t first, uint64_t second, const void *data, size_t size);

#endif
