/* SPDX-License-Identifier: BSD-3-Clause */
/* threaded.c - arguments, threads and output of the multithreaded programs. */
#include "threaded.h"

#include "may_end.h"

#include <inttypes.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define MACHINE_SHARE 16  /* of the machine's memory is used */
#define LINES_APART   100 /* milliseconds, at least */
#define MOST_THREADS  1024

struct thread {
    pthread_t id;
    void (*work)(void *shared, int index, int count);
    void *shared;
    int index;
    int count;
};

size_t count_argument(int argc, char **argv, int index, size_t otherwise)
{
    long value = number_argument(argc, argv, index, (long)otherwise);

    CHECK(value > 0);
    return (size_t)value;
}

size_t memory_argument(int argc, char **argv, int index)
{
    size_t physical =
        (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t mebibytes =
        count_argument(argc, argv, index, (physical / MACHINE_SHARE) >> 20);

    CHECK(mebibytes <= SIZE_MAX >> 20);
    return mebibytes << 20;
}

int threads_argument(int argc, char **argv, int index)
{
    size_t processors = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = count_argument(argc, argv, index, processors);

    CHECK(threads <= MOST_THREADS);
    return (int)threads;
}

void *allocate(size_t size)
{
    void *memory = malloc(size);

    CHECK(memory != NULL);
    return memory;
}

struct range part_of(size_t count, int index, int threads)
{
    size_t part = (size_t)index, parts = (size_t)threads;

    return (struct range){count * part / parts, count * (part + 1) / parts};
}

static void *start(void *argument)
{
    const struct thread *thread = argument;

    thread->work(thread->shared, thread->index, thread->count);
    return NULL;
}

void run_threads(int count, void (*work)(void *shared, int index, int count),
                 void *shared)
{
    struct thread *threads = allocate((size_t)count * sizeof *threads);

    for (int i = 1; i < count; i++) {
        threads[i] = (struct thread){
            .work = work, .shared = shared, .index = i, .count = count};
        CHECK(pthread_create(&threads[i].id, NULL, start, &threads[i]) == 0);
    }
    work(shared, 0, count);
    for (int i = 1; i < count; i++) {
        CHECK(pthread_join(threads[i].id, NULL) == 0);
    }
    free(threads);
}

static uint64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void show_progress(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t steps, shown_at;
    uint64_t now;

    pthread_mutex_lock(&lock);
    now = milliseconds();
    /* Also shows progress when the clock has gone back, after a restart on
     * another host. */
    if (now - shown_at >= LINES_APART) {
        printf("step %" PRIu64 "\n", steps);
        fflush(stdout);
        shown_at = now;
    }
    steps++;
    pthread_mutex_unlock(&lock);
}

void print_answer(uint64_t answer)
{
    wait_to_end();
    printf("OK %016" PRIx64 "\n", answer);
    fflush(stdout);
}
