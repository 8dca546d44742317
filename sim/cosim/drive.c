// Calls the function under test with generated stimuli, when no main() of the user's does.
//
// `trial FILE LIST`: each stimulus is first tried in a process of its own (the sanitizers end it at
// undefined behaviour, a count of basic blocks at length) and, if it went well, used here, so that
// static state is that of the good calls only; their numbers go to LIST. `replay FILE LIST`: uses the
// stimuli of the list.
#define _GNU_SOURCE
#include "record.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Of a stimulus file, followed by the stimuli: for each argument one byte (1: set it, 0: leave a
// global as it is) and its bytes.
struct head {
    uint64_t count, soft_limit, hard_limit, wanted, total_limit;
};

enum { ALARM_S = 4, GIVE_UP = 8, PAGE = 4096 };

static unsigned char **values;

static const unsigned char *load(const unsigned char *next) {
    for (int i = 0; i < rtlagent_argument_count; ++i) {
        const struct rtlagent_argument *a = &rtlagent_arguments[i];
        int set = *next++;
        if (a->kind == RTLAGENT_GLOBAL) {
            if (set && a->writable) memcpy(a->global, next, a->size);
        } else {
            memcpy(values[i], next, a->size);
        }
        next += a->size;
    }
    return next;
}

static size_t stimulus_size(void) {
    size_t size = 0;
    for (int i = 0; i < rtlagent_argument_count; ++i) size += 1 + rtlagent_arguments[i].size;
    return size;
}

// Returns the blocks that it took, or -1 - reason.
static int64_t try_in_child(const unsigned char *stimulus, uint64_t limit, volatile uint64_t *shared) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        rtlagent_recording = 0;
        alarm(ALARM_S);
        load(stimulus);
        rtlagent_blocks = 0;
        rtlagent_block_limit = limit;
        rtlagent_invoke(values);
        *shared = rtlagent_blocks;
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) _exit(RTLAGENT_EXIT_BROKEN);
    if (WIFSIGNALED(status)) return -1 - 256 - WTERMSIG(status);
    return WEXITSTATUS(status) ? -1 - WEXITSTATUS(status) : (int64_t)*shared;
}

static void trial(const struct head *head, const unsigned char *stimuli, const char *list_name) {
    FILE *list = fopen(list_name, "wb");
    if (!list) exit(RTLAGENT_EXIT_BROKEN);
    volatile uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t used = 0, total = 0, too_long = 0;
    for (uint64_t i = 0; i < head->count && used < head->wanted; ++i) {
        const unsigned char *stimulus = stimuli + i * stimulus_size();
        if ((total > head->total_limit && used >= 3) || (used == 0 && too_long >= GIVE_UP)) break;
        int64_t blocks = try_in_child(stimulus, used < 3 ? head->hard_limit : head->soft_limit, shared);
        if (blocks < 0) {
            rtlagent_event('D', i, (uint64_t)(-1 - blocks), NULL, 0);
            too_long += blocks == -1 - RTLAGENT_EXIT_TOO_LONG || blocks == -1 - 256 - SIGALRM;
            continue;
        }
        rtlagent_event('S', i, (uint64_t)blocks, NULL, 0);
        if (fwrite(&i, sizeof i, 1, list) != 1) exit(RTLAGENT_EXIT_BROKEN);
        load(stimulus);
        rtlagent_invoke(values);
        ++used;
        total += (uint64_t)blocks;
    }
    fclose(list);
}

static const unsigned char *map(const char *name, size_t *size) {
    int file = open(name, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0) exit(RTLAGENT_EXIT_BROKEN);
    *size = (size_t)info.st_size;
    if (*size == 0) return (const unsigned char *)"";
    const unsigned char *start = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (start == MAP_FAILED) exit(RTLAGENT_EXIT_BROKEN);
    return start;
}

// Memory whose ends are seen: by the address sanitizer, else by the processor.
static unsigned char *allocate(size_t size) {
    if (__asan_region_is_poisoned) return malloc(size);
    size_t pages = (size + PAGE - 1) / PAGE * PAGE;
    unsigned char *start = mmap(NULL, pages + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED || mprotect(start + PAGE, pages, PROT_READ | PROT_WRITE) != 0) exit(RTLAGENT_EXIT_BROKEN);
    return start + PAGE + pages - size;
}

int main(int argc, char **argv) {
    size_t size;
    if (argc < 4) return RTLAGENT_EXIT_BROKEN;
    const unsigned char *file = map(argv[2], &size);
    const struct head *head = (const struct head *)file;
    const unsigned char *stimuli = file + sizeof *head;
    values = calloc((size_t)rtlagent_argument_count + 1, sizeof *values);
    for (int i = 0; i < rtlagent_argument_count; ++i) {
        if (rtlagent_arguments[i].kind != RTLAGENT_GLOBAL) values[i] = allocate(rtlagent_arguments[i].size);
    }
    if (strcmp(argv[1], "trial") == 0) {
        trial(head, stimuli, argv[3]);
    } else {
        const uint64_t *list = (const uint64_t *)map(argv[3], &size);
        for (size_t i = 0; i < size / sizeof *list; ++i) {
            rtlagent_event('S', list[i], 0, NULL, 0);
            load(stimuli + list[i] * stimulus_size());
            rtlagent_invoke(values);
        }
    }
    return 0;
}
