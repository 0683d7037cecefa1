/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot_floor.c MEBIBYTES [ROUNDS] - the kernel's part of the beginning of a snapshot of this
 * much memory in small pages. Prints one line for each: a name and seconds.
 *
 *   fork      copying the page tables, until the parent goes on
 *   rewrite   writing to all pages while a copy of the process shares them
 *   write     the same when no other process shares them
 *   protect   write-protecting all of it with userfaultfd
 *   copy      memcpy of all of it to allocated memory
 *
 * "protect" is left out where the kernel does not allow it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static char *map(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    madvise(memory, size, MADV_NOHUGEPAGE);
    memset(memory, 1, size);
    return memory;
}

static double touch_all(char *memory, size_t size, int value)
{
    double start = now();

    for (size_t i = 0; i < size; i += PAGE) {
        memory[i] = (char)value;
    }
    return now() - start;
}

static void measure_fork(char *memory, size_t size, int round)
{
    double start = now(), forked;
    pid_t child = fork();

    if (child == 0) {
        for (;;) {
            pause();
        }
    }
    forked = now() - start;
    printf("fork %.9f\n", forked);
    printf("rewrite %.9f\n", touch_all(memory, size, round));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("write %.9f\n", touch_all(memory, size, round + 1));
}

static void measure_protect(char *memory, size_t size)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP};
    struct uffdio_register where = {
        .range = {(uintptr_t)memory, size}, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protect = {
        .range = {(uintptr_t)memory, size}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    double start = now();

    if (fd < 0) {
        return;
    }
    if (ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &where) == 0 &&
        ioctl(fd, UFFDIO_WRITEPROTECT, &protect) == 0) {
        printf("protect %.9f\n", now() - start);
    }
    close(fd);
}

int main(int argc, char *argv[])
{
    size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 0) << 20;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    char *memory, *other;

    if (size == 0) {
        fprintf(stderr, "snapshot_floor: MEBIBYTES [ROUNDS]\n");
        return 1;
    }
    memory = map(size);
    other = map(size);
    for (int round = 0; round < rounds; round++) {
        double start;

        measure_fork(memory, size, round);
        measure_protect(memory, size);
        start = now();
        memcpy(other, memory, size);
        printf("copy %.9f\n", now() - start);
    }
    return 0;
}
