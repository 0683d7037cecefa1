/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream_floor.c FILE MEBIBYTES [ROUNDS] - how fast a plain program writes and reads a file of that
 * size, a mebibyte at a time. Prints one line for each: a name and seconds.
 *
 *   copy   memcpy of all of it to allocated memory
 *   write  write(2) of all of it to a new file, and fsync
 *   direct the same with O_DIRECT, where the file system supports it
 *   read   read(2) of all of it, with the page cache as the writes left it
 *
 * The content is random; the file is removed afterwards.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 20)

static void require(int condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(1);
    }
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fill_random(char *memory, size_t size)
{
    for (size_t at = 0; at < size; at += BLOCK) {
        require(getrandom(memory + at, BLOCK, 0) == (ssize_t)BLOCK, "getrandom");
    }
}

static void measure_copy(char *to, const char *from, size_t size)
{
    double start = now();

    memcpy(to, from, size);
    printf("copy %.9f\n", now() - start);
}

static void measure_write(const char *name, const char *path, const char *memory,
                          size_t size, int flags)
{
    double start = now();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | flags, 0600);

    if (fd < 0 && errno == EINVAL) {
        return; /* no such flags here */
    }
    require(fd >= 0, path);
    for (size_t at = 0; at < size; at += BLOCK) {
        require(write(fd, memory + at, BLOCK) == (ssize_t)BLOCK, path);
    }
    require(fsync(fd) == 0 && close(fd) == 0, path);
    printf("%s %.9f\n", name, now() - start);
}

static void measure_read(const char *path, char *memory, size_t size)
{
    double start = now();
    int fd = open(path, O_RDONLY);

    require(fd >= 0, path);
    for (size_t at = 0; at < size; at += BLOCK) {
        require(read(fd, memory + at, BLOCK) == (ssize_t)BLOCK, path);
    }
    printf("read %.9f\n", now() - start);
    close(fd);
    require(unlink(path) == 0, path);
}

int main(int argc, char **argv)
{
    size_t size = (size_t)(argc > 2 ? strtoul(argv[2], NULL, 10) : 0) << 20;
    long rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    char *from = aligned_alloc(BLOCK, size), *to = malloc(size);

    require(argc > 2 && size > 0 && from != NULL && to != NULL, "FILE MEBIBYTES");
    fill_random(from, size);
    memset(to, 1, size);
    for (long round = 0; round < rounds; round++) {
        measure_copy(to, from, size);
        measure_write("direct", argv[1], from, size, O_DIRECT);
        measure_write("write", argv[1], from, size, 0);
        measure_read(argv[1], to, size);
    }
    return 0;
}
