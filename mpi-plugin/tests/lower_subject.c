/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lower_subject.c - a program that loads a lower half and checks its own process.
 *
 * usage: lower_subject HOST MODE. Exits with 0 if all is right; otherwise prints the error.
 */
#include "config.h"
#include "tests/lower_subject.h"

#include "lower/host/host_yield.h"
#include "lower/library.h"
#include "lower/lower.h"
#include "lower/mappings.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const function_names[] = {
    "PMPI_Init",
    "PMPI_Finalize",
    "PMPI_Comm_rank",
    "PMPI_Comm_size",
    "PMPI_Barrier",
    "PMPI_Send",
    "PMPI_Recv",
    "PMPI_No_such_function",
    "guest_memory",
    "guest_descriptors",
    "guest_threads",
    "guest_signals",
    "guest_yields",
    "guest_settle",
    "guest_deaf",
    "guest_hear",
    "guest_variable",
    "guest_end",
    "guest_give_up",
};
static const char *const object_names[] = {"ompi_mpi_comm_world", "ompi_mpi_byte", "guest_case"};
#define OBJECTS 3
void *function[FUNCTIONS];
static void *object[OBJECTS];
static const char *volatile last_words;
static volatile int interrupt, armed, is_open;
struct ckpt_lower lower;
static const char *host;
int alone;

#define WORLD object[0]
#define BYTE  object[1]

int load(const char *library, struct ckpt_failure *failure)
{
    memset(&lower, 0, sizeof(lower));
    lower.function_count = FUNCTIONS;
    lower.object_count = OBJECTS;
    lower.function_names = function_names;
    lower.object_names = object_names;
    lower.function = function;
    lower.object = object;
    lower.library = library;
    lower.interrupt = &interrupt;
    lower.armed = &armed;
    lower.open = &is_open;
    lower.last_words = &last_words;
    return ckpt_lower_load(&lower, host, environ, getauxval(AT_SYSINFO_EHDR),
                           alone, failure);
}

/* One pml, and the btl that every rank has. */
static void check_real_components(void)
{
    static struct ckpt_components found;
    const int error = BELOW(lower.components(&found));

    CHECK(error == 0, "error %d", error);
    CHECK(found.names[CKPT_FRAMEWORK_PML][0] != '\0' &&
              strchr(found.names[CKPT_FRAMEWORK_PML], ',') == NULL,
          "pml %s", found.names[CKPT_FRAMEWORK_PML]);
    CHECK(strstr(found.names[CKPT_FRAMEWORK_BTL], "self") != NULL, "btl %s",
          found.names[CKPT_FRAMEWORK_BTL]);
    CHECK(strchr(found.files, '/') != NULL, "files %s", found.files);
}

void load_and_init(void)
{
    static char library[4096];
    struct ckpt_failure failure;
    int status;

    CHECK(ckpt_lower_library(environ, library, sizeof(library)) == 0,
          "no library");
    status = load(library, &failure);
    CHECK(status == 0, "%s", failure.text);
    CHECK(lower.thread_pointer != ckpt_thread_pointer_get(), "one half only");
    CHECK(function[NONE] == NULL, "a function that does not exist");
    CHECK(BELOW(((init_t)function[INIT])(NULL, NULL)) == 0, "MPI_Init");
    check_real_components();
}

static int number(enum function which)
{
    int value = -1;

    CHECK(BELOW(((number_t)function[which])(WORLD, &value)) == 0, "error");
    return value;
}

void barrier(void)
{
    CHECK(BELOW(((comm_t)function[BARRIER])(WORLD)) == 0, "MPI_Barrier");
}

static void finalize(void)
{
    CHECK(BELOW(((void_t)function[FINALIZE])()) == 0, "MPI_Finalize");
}

/* Returns the ranges of lower memory as for a checkpoint. */
static int lower_ranges(struct ckpt_range *ranges)
{
    int count = BELOW(lower.ranges(ranges, RANGES));

    CHECK(count > 0, "ranges: %d", count);
    for (int i = 0; i < count; i++) {
        CHECK(ranges[i].start < ranges[i].end, "range %d is empty", i);
        CHECK(i == 0 || ranges[i - 1].end < ranges[i].start, "not in order");
    }
    return count + ckpt_lower_loader_ranges(ranges + count, RANGES - count);
}

static int overlaps(const struct ckpt_range *ranges, int count, uint64_t start,
                    uint64_t end)
{
    for (int i = 0; i < count; i++) {
        if (start < ranges[i].end && ranges[i].start < end) {
            return 1;
        }
    }
    return 0;
}

/* Returns the bytes of [start, end) in none of the ranges. */
uint64_t outside(const struct ckpt_range *ranges, int count,
                 uint64_t start, uint64_t end)
{
    uint64_t bytes = 0;

    for (uint64_t page = start; page < end; page += 4096) {
        bytes += overlaps(ranges, count, page, page + 4096) ? 0 : 4096;
    }
    return bytes;
}

/* Checks memory that is mapped now, was not mapped before, and is not known to be lower. */
static void check_residue(const struct ckpt_range *before, int before_count)
{
    static struct ckpt_range known[2 * RANGES], now[RANGES];
    uint64_t residue = 0, total = 0;
    int count = lower_ranges(known);
    int now_count = ckpt_mappings_read(now, RANGES);

    for (int i = 0; i < count; i++) {
        CHECK(!overlaps(before, before_count, known[i].start, known[i].end),
              "%lx-%lx was there before the lower half", known[i].start,
              known[i].end);
        total += known[i].end - known[i].start;
    }
    memcpy(known + count, before, (size_t)before_count * sizeof(*before));
    count += before_count;
    CHECK(now_count > 0, "maps");
    for (int i = 0; i < now_count; i++) {
        if (outside(known, count, now[i].start, now[i].end) > 0) {
            uint64_t bytes = outside(known, count, now[i].start, now[i].end);

            residue += bytes;
            printf("not known as lower: %lu bytes in %lx-%lx\n", bytes,
                   now[i].start, now[i].end);
        }
    }
    printf("lower address space %lu MiB in %d ranges, residue %lu bytes\n",
           total >> 20, count - before_count, residue);
    CHECK(residue < RESIDUE_MAX, "residue %lu bytes", residue);
}

void read_descriptors(struct open_file *files)
{
    struct stat status;

    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        files[fd].open = fstat(fd, &status) == 0;
        if (files[fd].open) {
            files[fd].device = status.st_dev;
            files[fd].inode = status.st_ino;
        }
    }
}

/* The same files are open under the same numbers as before. */
void check_same_descriptors(const struct open_file *before)
{
    static struct open_file files[DESCRIPTORS];

    read_descriptors(files);
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        CHECK(files[fd].open == before[fd].open && files[fd].device == before[fd].device &&
                  files[fd].inode == before[fd].inode,
              "descriptor %d", fd);
    }
}

/* The descriptors that were open belong to the application and are unchanged. All others belong to
 * the lower half: they have high numbers and are close-on-exec. */
static void check_descriptors(const struct open_file *before)
{
    static struct open_file files[DESCRIPTORS];
    int count = 0;

    read_descriptors(files);
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (before[fd].open) {
            CHECK(files[fd].open && files[fd].inode == before[fd].inode &&
                      files[fd].device == before[fd].device,
                  "the application's descriptor %d is another file", fd);
            CHECK(lower.owns_descriptor(fd) == 0, "descriptor %d", fd);
        } else if (files[fd].open) {
            CHECK(lower.owns_descriptor(fd) == 1, "descriptor %d has no owner",
                  fd);
            CHECK(fd >= 192, "the lower half has descriptor %d", fd);
            CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC,
                  "descriptor %d is inherited", fd);
            count++;
        }
    }
    CHECK(count > 0, "the lower half has no descriptor at all");
    printf("lower descriptors: %d\n", count);
}

/* upper: another thread of the application besides the main one, or 0. */
static void check_threads(int upper)
{
    DIR *directory = opendir("/proc/self/task");
    struct dirent *entry;
    char path[64], line[256];
    unsigned long blocked;
    int count = 0;
    FILE *file;

    CHECK(directory != NULL, "no /proc");
    while ((entry = readdir(directory)) != NULL) {
        int tid = atoi(entry->d_name);

        if (entry->d_name[0] == '.') {
            continue;
        }
        if (tid == getpid() || tid == upper) {
            CHECK(lower.owns_thread(tid) == 0, "thread %d", tid);
            continue;
        }
        CHECK(lower.owns_thread(tid) == 1, "thread %d has no owner", tid);
        snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
        file = fopen(path, "r");
        CHECK(file != NULL, "%s", path);
        blocked = 0;
        while (fgets(line, sizeof(line), file) != NULL) {
            sscanf(line, "SigBlk: %lx", &blocked);
        }
        fclose(file);
        /* All signals except KILL, STOP and libc's own signal 32. */
        CHECK(blocked == (~0ul & ~(1ul << 8 | 1ul << 18 | 1ul << 31)),
              "thread %d blocks %lx", tid, blocked);
        count++;
    }
    closedir(directory);
    CHECK(lower.owns_thread(1) == 0, "thread 1");
    printf("lower threads: %d\n", count);
}

void read_signals(struct signal_state *state)
{
    memset(state, 0, sizeof(*state));
    for (int i = 1; i <= 64; i++) {
        ckpt_sys_sigaction(i, NULL, &state->action[i]);
    }
    ckpt_sys_sigprocmask(SIG_BLOCK, NULL, &state->mask);
    prctl(PR_GET_NAME, state->name);
}

void handler(int signal)
{
    (void)signal;
}

/* A receive is interrupted half-way, and completed later. */
static void check_services(void)
{
    struct status {
        int source, tag, error, cancelled;
        size_t size;
    } status = {0};
    char in[8] = "", out[8] = "message";
    void *request = NULL, *unused;
    int self = number(RANK), error;

    interrupt = 1;
    error = BELOW(lower.receive(in, 8, BYTE, self, 7, WORLD, &status,
                                &request));
    CHECK(error == CKPT_INTERRUPTED, "receive of nothing: %d", error);
    CHECK(request != NULL, "no request");
    error = BELOW(lower.wait(&request, &status));
    CHECK(error == CKPT_INTERRUPTED, "wait for nothing: %d", error);
    /* A call that can complete does so, with or without an interrupt. */
    error = BELOW(lower.send(out, 8, BYTE, self, 7, WORLD, &unused));
    CHECK(error == 0, "send: %d", error);
    interrupt = 0;
    error = BELOW(lower.wait(&request, &status));
    CHECK(error == 0, "wait: %d", error);
    CHECK(strcmp(in, out) == 0, "received \"%.8s\"", in);
    CHECK(status.source == self && status.tag == 7 && status.size == 8,
          "status %d %d %zu", status.source, status.tag, status.size);
    interrupt = 1;
    error = BELOW(lower.ssend(out, 8, BYTE, self, 8, WORLD, &request));
    CHECK(error == CKPT_INTERRUPTED, "ssend nobody receives: %d", error);
    interrupt = 0;
    error = BELOW(lower.receive(in, 8, BYTE, self, 8, WORLD, NULL, &unused));
    CHECK(error == 0, "receive: %d", error);
    error = BELOW(lower.wait(&request, NULL));
    CHECK(error == 0, "wait for ssend: %d", error);
}

/* One process, one thread: everything that the lower half adds is known. */
static void mode_alone(void)
{
    static struct ckpt_range before[RANGES];
    static struct open_file files[DESCRIPTORS];
    struct signal_state signals, signals_now;
    void *heap_end;
    int count;

    CHECK(open("/proc/self/maps", O_RDONLY) >= 0, "open");
    read_descriptors(files);
    signal(SIGUSR1, handler);
    signal(SIGSEGV, handler);
    read_signals(&signals);
    free(malloc(100000));
    heap_end = sbrk(0);
    count = ckpt_mappings_read(before, RANGES);
    CHECK(count > 0, "maps: %d", count);

    load_and_init();
    CHECK(number(RANK) == 0 && number(SIZE) == 1, "not one rank");
    barrier();
    CHECK(sbrk(0) == heap_end, "the program break has moved");
    check_residue(before, count);
    check_descriptors(files);
    check_threads(0);
    read_signals(&signals_now);
    for (int i = 1; i <= 64; i++) {
        CHECK(memcmp(&signals.action[i], &signals_now.action[i],
                     sizeof(signals.action[i])) == 0,
              "the disposition of signal %d has changed", i);
    }
    CHECK(signals.mask == signals_now.mask, "signal mask %lx", signals.mask);
    CHECK(strcmp(signals.name, signals_now.name) == 0, "thread name %s",
          signals_now.name);
    heap_end = sbrk(0); /* the checks above use the application's malloc */
    check_services();
    finalize();
    CHECK(sbrk(0) == heap_end, "the program break has moved");
}

/* The guest calls it with the lower half's thread pointer. */
int is_lower(const void *address, size_t size)
{
    static struct ckpt_range ranges[RANGES];
    int count = lower.ranges(ranges, RANGES);

    return outside(ranges, count, (uint64_t)address & ~UINT64_C(4095),
                   (uint64_t)address + size) == 0;
}

/* During a checkpoint, yields become short sleeps. Only most of them are counted, because a sleep
 * may be over before the thread has left the processor. */
static void check_yields(void)
{
    CHECK(BELOW(((void_t)function[GUEST_YIELDS])()) < 50, "they sleep");
    armed = 1;
    CHECK(BELOW(((void_t)function[GUEST_YIELDS])()) >= 50, "armed");
    armed = 0;
    is_open = 1;
    CHECK(BELOW(((void_t)function[GUEST_YIELDS])()) >= 50, "open");
    is_open = 0;
    CHECK(ckpt_host_yield_moment(0, 2) == CKPT_MOMENT_NS, "not told");
    CHECK(ckpt_host_yield_moment(2, 2) == CKPT_MOMENT_NS, "one each");
    CHECK(ckpt_host_yield_moment(3, 2) == 2 * CKPT_MOMENT_NS, "two on one");
    CHECK(ckpt_host_yield_moment(32, 2) == 16 * CKPT_MOMENT_NS, "16 each");
    CHECK(ckpt_host_yield_moment(5000, 2) == CKPT_LONGEST_MOMENT_NS, "too many");
    CHECK(ckpt_host_yield_moment(5000, 0) == CKPT_MOMENT_NS, "no processor");
}

/* The components that are open, in each list of tests/guest_variables.c; and a variable for the
 * library, which the application does not get. */
static void check_components(void)
{
    typedef int (*variable_t)(const char *, const char *);
    static struct ckpt_components found;
    int *which = object[2];

    CHECK(which != NULL, "no guest_case");
    CHECK(BELOW(lower.components(&found)) == 0, "not told");
    CHECK(strcmp(found.names[CKPT_FRAMEWORK_PML], "ob1") == 0, "%s", found.names[0]);
    CHECK(strcmp(found.names[CKPT_FRAMEWORK_BTL], "self,sm,two_words") == 0, "%s",
          found.names[1]);
    CHECK(found.names[CKPT_FRAMEWORK_MTL][0] == '\0', "%s", found.names[2]);
    CHECK(strcmp(found.files, "/a (b)/x.conf,/c/y.conf,/c/z.conf") == 0, "%s", found.files);
    *which = 1;
    CHECK(BELOW(lower.components(&found)) == -E2BIG, "too long");
    *which = 2;
    CHECK(BELOW(lower.components(&found)) == -EPROTO, "a value in quotes");
    *which = 0;
    CHECK(BELOW(lower.set_variable("OMPI_MCA_btl", "self,sm")) == 0, "not set");
    CHECK(BELOW(((variable_t)function[GUEST_VARIABLE])("OMPI_MCA_btl", "self,sm")) == 1,
          "another value");
    CHECK(getenv("OMPI_MCA_btl") == NULL, "the application has it, too");
}

/* The library ends the process, with a line of the upper half only if there is one. */
static void mode_last_words(void)
{
    typedef int (*end_t)(int);
    struct ckpt_failure failure;

    CHECK(load("./lower_guest.so", &failure) == 0, "%s", failure.text);
    if (getenv("GUEST_SILENT") == NULL) {
        last_words = "this was the reason\n";
    }
    BELOW(((end_t)function[GUEST_END])(7));
}

/* The library gives up over PMIx, which is not there. */
static void mode_give_up(void)
{
    typedef int (*give_up_t)(int);
    struct ckpt_failure failure;

    CHECK(load("./lower_guest.so", &failure) == 0, "%s", failure.text);
    CHECK(BELOW(((give_up_t)function[GUEST_GIVE_UP])(14)) != 0, "PMIx has ended the job");
    lower.stops_alone = 1;
    (void)BELOW(((give_up_t)function[GUEST_GIVE_UP])(14));
    CHECK(0, "the process has not ended");
}

/* Loads a library that tries everything. */
static void mode_guest(void)
{
    typedef const char *(*guest_t)(int (*)(const void *, size_t));
    static struct open_file files[DESCRIPTORS];
    struct signal_state signals, signals_now;
    struct ckpt_failure failure;
    const char *wrong;
    void *heap_end;

    read_descriptors(files);
    heap_end = sbrk(0);
    CHECK(load("./lower_guest.so", &failure) == 0, "%s", failure.text);
    read_signals(&signals);
    for (int i = GUEST_MEMORY; i <= GUEST_SIGNALS; i++) {
        CHECK(function[i] != NULL, "no %s", function_names[i]);
        wrong = BELOW(((guest_t)function[i])(is_lower));
        CHECK(wrong == NULL, "%s: %s", function_names[i], wrong);
    }
    check_yields();
    check_components();
    CHECK(sbrk(0) == heap_end, "the program break has moved");
    read_signals(&signals_now);
    CHECK(memcmp(&signals, &signals_now, sizeof(signals)) == 0, "signals");
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        CHECK((fcntl(fd, F_GETFD) >= 0) == files[fd].open,
              "descriptor %d is %s", fd, files[fd].open ? "closed" : "open");
    }

    setenv("GUEST_ENDS", "exit", 1);
    CHECK(load("./lower_guest.so", &failure) == -ENOTSUP, "no failure");
    CHECK(strstr(failure.text, "exit()") != NULL, "%s", failure.text);
    setenv("GUEST_ENDS", "abort", 1);
    CHECK(load("./lower_guest.so", &failure) == -ENOTSUP, "no failure");
    CHECK(strstr(failure.text, "abort()") != NULL, "%s", failure.text);
}

/* A thread of the application maps and unmaps memory while the lower half is loaded. */
#define UPPER_BLOCKS 512
#define UPPER_SIZE   (64 * 1024)
static char *volatile upper_blocks[UPPER_BLOCKS];
volatile int upper_stop;
static volatile int upper_tid;

static void *map_and_unmap(void *argument)
{
    unsigned turn = 0;

    upper_tid = ckpt_sys_gettid();
    while (!upper_stop) {
        int i = turn++ % UPPER_BLOCKS;

        if (upper_blocks[i] != NULL) {
            munmap(upper_blocks[i], UPPER_SIZE);
        }
        upper_blocks[i] = mmap(NULL, UPPER_SIZE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (upper_blocks[i] == MAP_FAILED) {
            abort();
        }
        upper_blocks[i][0] = 1;
    }
    return argument;
}

static void mode_busy(void)
{
    static struct ckpt_range known[RANGES];
    pthread_t thread;
    int count;

    pthread_create(&thread, NULL, map_and_unmap, NULL);
    while (upper_tid == 0) {
        sched_yield();
    }
    load_and_init();
    barrier();
    check_threads(upper_tid);
    upper_stop = 1;
    pthread_join(thread, NULL);

    count = lower_ranges(known);
    for (int i = 0; i < UPPER_BLOCKS; i++) {
        uint64_t start = (uint64_t)upper_blocks[i];

        CHECK(start == 0 || !overlaps(known, count, start, start + UPPER_SIZE),
              "memory of the application at %lx is claimed", start);
    }
    finalize();
}

/* A failure to load gives its reason, and the program goes on. */
static void mode_failures(void)
{
    struct ckpt_failure failure = {.text = ""};
    const char *good = host;
    int status;

    status = load("/nonexistent/libmpi.so.40", &failure);
    CHECK(status == -ENOENT, "%d", status);
    CHECK(strstr(failure.text, "/nonexistent/libmpi.so.40") != NULL, "%s",
          failure.text);
    status = load("libm.so.6", &failure);
    CHECK(status == -ENOTSUP, "%d", status);
    CHECK(strstr(failure.text, "PMPI_Isend") != NULL, "%s", failure.text);
    host = "/nonexistent/ckpt-host";
    status = load("libmpi.so.40", &failure);
    CHECK(status == -ENOENT, "%d", status);
    CHECK(strstr(failure.text, host) != NULL, "%s", failure.text);
    host = "/proc/self/maps";
    status = load("libmpi.so.40", &failure);
    CHECK(status == -ENOEXEC, "%d", status);
    host = good;
    load_and_init(); /* after all failures */
    finalize();
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

#define ROUND_TRIPS 2000
#define REPEATS     30

static void ping_pong(char *buffer, int size, int first)
{
    int peer = first ? 1 : 0;
    void *request;

    for (int i = 0; i < ROUND_TRIPS; i++) {
        if (first) {
            BELOW(lower.send(buffer, size, BYTE, peer, 0, WORLD, &request));
        }
        BELOW(lower.receive(buffer, size, BYTE, peer, 0, WORLD, NULL,
                            &request));
        if (!first) {
            buffer[0]++;
            BELOW(lower.send(buffer, size, BYTE, peer, 0, WORLD, &request));
        }
    }
}

/* The same with the library's own blocking calls, in the lower half all the time. */
static void ping_pong_native(char *buffer, int size, int first)
{
    uintptr_t upper = ckpt_thread_pointer_get();
    int peer = first ? 1 : 0;

    ckpt_thread_pointer_set(lower.thread_pointer);
    for (int i = 0; i < ROUND_TRIPS; i++) {
        if (first) {
            ((send_t)function[SEND])(buffer, size, BYTE, peer, 0, WORLD);
        }
        ((recv_t)function[RECV])(buffer, size, BYTE, peer, 0, WORLD, NULL);
        if (!first) {
            buffer[0]++;
            ((send_t)function[SEND])(buffer, size, BYTE, peer, 0, WORLD);
        }
    }
    ckpt_thread_pointer_set(upper);
}

static double shortest(void (*trip)(char *, int, int), int size, int first)
{
    double best = 1e9, time;
    char buffer[1024] = {0};

    for (int i = 0; i < REPEATS; i++) {
        buffer[0] = 0;
        barrier();
        time = now();
        trip(buffer, size, first);
        time = now() - time;
        best = time < best ? time : best;
        CHECK((unsigned char)buffer[0] == ROUND_TRIPS % 256,
              "%d round trips counted %d", ROUND_TRIPS,
              (unsigned char)buffer[0]);
    }
    return best / ROUND_TRIPS / 2 * 1e9;
}

static void mode_pair(void)
{
    int rank;

    load_and_init();
    rank = number(RANK);
    CHECK(number(SIZE) == 2, "two ranks, not %d", number(SIZE));
    check_services();
    for (int size = 8; size <= 512; size *= 8) {
        double ours = shortest(ping_pong, size, rank == 0);
        double native = shortest(ping_pong_native, size, rank == 0);

        if (rank == 0) {
            printf("%4d bytes one way: %.1f ns, native %.1f ns, added %.1f\n",
                   size, ours, native, ours - native);
        }
    }
    finalize();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"alone", mode_alone},
                 {"busy", mode_busy},
                 {"discard", mode_discard},
                 {"discard-mpi", mode_discard_mpi},
                 {"failures", mode_failures},
                 {"give-up", mode_give_up},
                 {"guest", mode_guest},
                 {"keep", mode_keep},
                 {"last-words", mode_last_words},
                 {"pair", mode_pair}};

    CHECK(argc == 3, "usage: lower_subject HOST MODE");
    host = argv[1];
    ckpt_thread_pointer_open();
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[2], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    CHECK(0, "no mode %s", argv[2]);
}
