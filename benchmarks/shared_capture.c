/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_capture.c MEBIBYTES - the cost of finding and logging the stores to a shared window
 * (docs/windows.md, section 5). Prints one line for each: a name and microseconds.
 *
 *   store     the first store to a watched page since the last look
 *   unwatched the same without a watch: the difference is the fault's cost
 *   look      at all of the memory, without any store
 *   look full the same after stores to all pages: per page
 *   compare   a page with the released image
 *   log       a page into an existing log, and from there into the image
 *   step      a store in a replay, let through as a single step
 */
#define _GNU_SOURCE
#include "memory/write_watch.h"
#include "task/write_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE  4096u
#define STEPS 10000u

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void need(int there, const char *what)
{
    if (!there) {
        perror(what);
        exit(1);
    }
}

static char *map(size_t size, int flags, int fd)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

    need(memory != MAP_FAILED, "mmap");
    memset(memory, 1, size);
    return memory;
}

static double store_to_all(volatile char *memory, size_t pages, char value)
{
    const double start = now();

    for (size_t i = 0; i < pages; i++) {
        memory[i * PAGE] = value;
    }
    return (now() - start) / (double)pages;
}

static double look(const struct ckpt_write_watch *watch, const char *memory, size_t pages,
                   uint8_t *written)
{
    const double start = now();

    need(ckpt_write_watch_look(watch, memory, pages * PAGE, written) == 0, "look");
    return now() - start;
}

static void measure_watch(char *memory, size_t pages)
{
    struct ckpt_write_watch watch;
    uint8_t *written = calloc(pages, 1);

    need(written != NULL, "calloc");
    need(ckpt_write_watch_open(&watch) == 0, "no asynchronous write protection");
    printf("unwatched %.3f\n", store_to_all(memory, pages, 2));
    need(ckpt_write_watch_begin(&watch, memory, pages * PAGE) == 0, "watch");
    printf("store %.3f\n", store_to_all(memory, pages, 3));
    printf("look full %.3f\n", look(&watch, memory, pages, written) / (double)pages);
    printf("look %.3f\n", look(&watch, memory, pages, written));
    ckpt_write_watch_close(&watch);
    free(written);
}

static void measure_log(const char *memory, char *log, char *image, size_t pages)
{
    double start = now();
    size_t different = 0;

    for (size_t i = 0; i < pages; i++) {
        different += memcmp(memory + i * PAGE, image + i * PAGE, PAGE) != 0;
    }
    printf("compare %.3f\n", (now() - start) / (double)pages);
    start = now();
    for (size_t i = 0; i < pages; i++) {
        memcpy(log + i * PAGE, memory + i * PAGE, PAGE);
        memcpy(image + i * PAGE, log + i * PAGE, PAGE);
    }
    printf("log %.3f\n", (now() - start) / (double)pages);
    fprintf(stderr, "%zu pages differed\n", different);
}

static void measure_steps(void)
{
    char *memory = map(4 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    volatile char *bytes = memory;
    struct ckpt_write_set part;
    double start;

    need(ckpt_write_set_add(&part, memory, 4 * PAGE) == 0, "write set");
    need(ckpt_write_set_begin() == 0, "write set");
    start = now();
    for (size_t i = 0; i < STEPS; i++) {
        bytes[i] = 2;
    }
    printf("step %.3f\n", (now() - start) / STEPS);
    need(ckpt_write_set_end() == 0, "write set");
    ckpt_write_set_free();
}

int main(int argc, char **argv)
{
    const size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 20;
    const int fd = memfd_create("window", MFD_CLOEXEC);
    char *memory, *log, *image;

    need(fd >= 0 && ftruncate(fd, (off_t)size) == 0, "memfd");
    memory = map(size, MAP_SHARED, fd);
    log = map(size, MAP_SHARED | MAP_ANONYMOUS, -1);
    image = map(size, MAP_SHARED | MAP_ANONYMOUS, -1);
    memcpy(image, memory, size);
    measure_watch(memory, size / PAGE);
    memcpy(image, memory, size);
    measure_log(memory, log, image, size / PAGE);
    measure_steps();
    return 0;
}
