// Calls the function under test with generated stimuli, when no main() of the user's does.
//
// `trial FILE USED`: each stimulus is first tried in a process of its own (the sanitizers end it at
// undefined behaviour, a count of basic blocks at length) and, if it went well and is wanted, used
// here, so that static state is that of the good calls only. Wanted are some of the given ones, then
// only those that take a way through the code that none before took; when the given ones are used
// up, changed copies of the used ones are tried. What was used goes to USED. `replay FILE USED`: makes
// the calls of USED.
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

// Of a stimulus file, followed by `words` interesting values (8 bytes each) and the stimuli: for each
// argument one byte (1: set it, 0: leave a global as it is) and its bytes.
struct head {
    uint64_t count;        // stimuli given
    uint64_t soft_limit;   // blocks of one call
    uint64_t hard_limit;   // of the first calls
    uint64_t wanted;       // that are used whatever way they take
    uint64_t most;         // that are used in all
    uint64_t total_limit;  // blocks of all calls
    uint64_t attempts;     // changed copies that are tried
    uint64_t seed, words;
};

enum { ALARM_S = 4, GIVE_UP = 8, PAGE = 4096, FIRST = 3, PATIENCE = 300, LEADING = 6, LEADING_WORDS = 40 };

static const struct head *head;
static const uint64_t *words;
static const unsigned char *stimuli;
static unsigned char **values;
static size_t stimulus_size;
static volatile uint64_t *shared;  // written by the child: blocks, new ways
static unsigned char *used;        // copies of the used stimuli
static unsigned char *is_new;      // of each: it took a new way and was not varied yet
static uint64_t used_count, total, too_long, attempts, fruitless;
static FILE *used_file;
static uint64_t random_state;

static void load(const unsigned char *next) {
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
}

// Returns 0, or why the stimulus is to be dropped.
static int try_in_child(const unsigned char *stimulus, uint64_t limit) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        rtlagent_recording = 0;
        alarm(ALARM_S);
        load(stimulus);
        rtlagent_blocks = 0;
        rtlagent_block_limit = limit;
        rtlagent_new_ways = 0;
        rtlagent_last_way = 0;
        rtlagent_invoke(values);
        shared[0] = rtlagent_blocks;
        shared[1] = rtlagent_new_ways;
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) _exit(RTLAGENT_EXIT_BROKEN);
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void attempt(uint64_t number, const unsigned char *stimulus, uint64_t limit, int only_new) {
    int reason = try_in_child(stimulus, limit);
    if (reason) {
        too_long += reason == RTLAGENT_EXIT_TOO_LONG || reason == 256 + SIGALRM;
        rtlagent_event('D', number, (uint64_t)reason, NULL, 0);
        return;
    }
    if (only_new && shared[1] == 0) return;
    total += shared[0];
    is_new[used_count] = shared[1] > 0;
    memcpy(used + used_count++ * stimulus_size, stimulus, stimulus_size);
    if (fwrite(stimulus, stimulus_size, 1, used_file) != 1) exit(RTLAGENT_EXIT_BROKEN);
    rtlagent_event('S', number, shared[0], NULL, 0);
    load(stimulus);
    rtlagent_last_way = 0;
    rtlagent_invoke(values);
}

static uint64_t random_below(uint64_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % bound;
}

// Changes one element of one argument.
static void change(unsigned char *stimulus) {
    int chosen = (int)random_below((uint64_t)rtlagent_argument_count);
    unsigned char *bytes = stimulus + 1;
    for (int i = 0; i < chosen; ++i) bytes += rtlagent_arguments[i].size + 1;
    const struct rtlagent_argument *a = &rtlagent_arguments[chosen];
    if (a->element == 0 || a->element > 8 || a->size < a->element) return;
    bytes[-1] = 1;
    uint64_t count = a->size / a->element, bits = 8 * a->element;
    // What decides is often at the start.
    bytes += a->element * random_below(random_below(2) && count > 8 ? 1 + random_below(8) : count);
    uint64_t value = 0;
    memcpy(&value, bytes, a->element);
    switch (random_below(8)) {
        case 0: value ^= (uint64_t)1 << random_below(bits); break;
        case 1: value += random_below(2) ? 1 : (uint64_t)-1; break;
        case 2: value = random_below(20); break;
        case 3: value = random_below((uint64_t)1 << 31) << random_below(bits); break;
        case 4: value = head->words ? words[random_below(head->words)] + random_below(3) - 1 : 0; break;
        default: value = head->words ? words[random_below(head->words)] : random_below(256);
    }
    memcpy(bytes, &value, a->element);
}

// Tries a changed copy; returns whether there may be further ones.
static int attempt_copy(const unsigned char *copy) {
    uint64_t before = used_count;
    attempt(head->count + attempts++, copy, head->soft_limit, used_count >= head->wanted);
    fruitless = used_count > before ? 0 : fruitless + 1;
    return attempts < head->attempts && fruitless < PATIENCE && used_count < head->most && total <= head->total_limit;
}

// Puts each interesting value into each scalar and each of an array's first elements, one at a time.
static int vary_systematically(const unsigned char *parent, unsigned char *copy) {
    size_t offset = 1;
    for (int i = 0; i < rtlagent_argument_count; offset += rtlagent_arguments[i++].size + 1) {
        const struct rtlagent_argument *a = &rtlagent_arguments[i];
        if (a->element == 0 || a->element > 8) continue;
        for (size_t n = 0; n < LEADING && (n + 1) * a->element <= a->size; ++n) {
            for (uint64_t w = 0; w < head->words && w < LEADING_WORDS; ++w) {
                memcpy(copy, parent, stimulus_size);
                copy[offset - 1] = 1;
                memcpy(copy + offset + n * a->element, &words[w], a->element);
                if (!attempt_copy(copy)) return 0;
            }
        }
    }
    return 1;
}

// Changes copies of used stimuli: those that took a new way first, the newest first.
static void vary(void) {
    unsigned char *copy = malloc(stimulus_size);
    if (!copy) exit(RTLAGENT_EXIT_BROKEN);
    random_state = head->seed;
    for (;;) {
        uint64_t parent = used_count;
        while (parent > 0 && !is_new[parent - 1]) --parent;
        if (parent > 0) {
            is_new[parent - 1] = 0;
            if (!vary_systematically(used + (parent - 1) * stimulus_size, copy)) break;
            continue;
        }
        memcpy(copy, used + random_below(used_count) * stimulus_size, stimulus_size);
        for (uint64_t n = 1 + random_below(4); n > 0; --n) change(copy);
        if (!attempt_copy(copy)) break;
    }
    free(copy);
}

static void trial(void) {
    uint64_t most = head->most;
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    used = malloc((most + 1) * stimulus_size);
    is_new = calloc(most + 1, 1);
    if (shared == MAP_FAILED || !used || !is_new) exit(RTLAGENT_EXIT_BROKEN);
    rtlagent_count_ways = 1;
    for (uint64_t i = 0; i < head->count && used_count < most; ++i) {
        if (used_count == 0 && too_long >= GIVE_UP) return;
        if (used_count >= FIRST && total > head->total_limit) return;
        uint64_t limit = used_count < FIRST ? head->hard_limit : head->soft_limit;
        attempt(i, stimuli + i * stimulus_size, limit, used_count >= head->wanted);
    }
    if (used_count > 0 && stimulus_size > 1) vary();
}

static void replay(const unsigned char *calls, size_t size) {
    for (size_t i = 0; (i + 1) * stimulus_size <= size; ++i) {
        load(calls + i * stimulus_size);
        rtlagent_invoke(values);
    }
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
    head = (const struct head *)file;
    words = (const uint64_t *)(head + 1);
    stimuli = (const unsigned char *)(words + head->words);
    values = calloc((size_t)rtlagent_argument_count + 1, sizeof *values);
    for (int i = 0; i < rtlagent_argument_count; ++i) {
        stimulus_size += 1 + rtlagent_arguments[i].size;
        if (rtlagent_arguments[i].kind != RTLAGENT_GLOBAL) values[i] = allocate(rtlagent_arguments[i].size);
    }
    // A function without arguments has stimuli all the same.
    if (stimulus_size == 0) stimulus_size = 1;
    if (strcmp(argv[1], "trial") == 0) {
        used_file = fopen(argv[3], "wb");
        if (!used_file) return RTLAGENT_EXIT_BROKEN;
        trial();
        fclose(used_file);
    } else {
        const unsigned char *calls = map(argv[3], &size);
        replay(calls, size);
    }
    return 0;
}
