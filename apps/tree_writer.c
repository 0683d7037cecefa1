/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_writer.c - changes a tree of files in every way, step by step.
 *
 *     tree_writer DIRECTORY STEPS SEED PAUSE_US
 *
 * Each rank has the directory rank.N. All ranks append lines to the files shared/log and
 * shared/lines in turn and write disjoint blocks of shared/blocks. This file has the common ways to
 * change a file, tree_*.c the others. Seed, rank and step determine all changes, so an undisturbed
 * run with the same arguments leaves the same tree. Each rank keeps the sizes and a checksum of its
 * files in memory, and compares them with the files at each step. After a restart with other files
 * the program prints WRONG.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "tree_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 1000

struct model model[FILES];
static uint64_t state; /* of the random numbers */
int rank, ranks, step;
static int kept_open = -1; /* an open file for appends over many steps */

void check(int condition, const char *what, int line)
{
    if (!condition) {
        printf("WRONG rank %d step %d line %d: %s (%s)\n", rank, step, line, what,
               strerror(errno));
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* xorshift64*. */
uint64_t draw(uint64_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1dull % limit;
}

const char *name_of(int file)
{
    static char names[4][64];
    static int next;
    char *name = names[next++ % 4];

    snprintf(name, sizeof(names[0]), "%s/f%02d", file % 3 == 0 ? "sub" : ".", file);
    return name;
}

void fill(unsigned char *bytes, size_t size)
{
    const uint64_t first = draw(UINT64_MAX);

    for (size_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)((first >> i % 48) + i);
    }
}

/* Draws a size; now and then a large one. */
static size_t draw_size(void)
{
    return draw(8) == 0 ? draw(LARGEST) : draw(6000);
}

/* ---- Changes of a whole file ----------------------------------------------------- */

static void write_new(int file, const char *name)
{
    struct model *now = &model[file];

    now->size = draw_size();
    now->exists = 1;
    fill(now->bytes, now->size);
    if (draw(2) == 0) {
        FILE *out = fopen(name, "w");

        CHECK(out != NULL && fwrite(now->bytes, 1, now->size, out) == now->size &&
              fclose(out) == 0);
    } else {
        const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

        CHECK(fd >= 0 && write(fd, now->bytes, now->size) == (ssize_t)now->size &&
              close(fd) == 0);
    }
}

static void replace(int file)
{
    write_new(file, "tmp");
    CHECK(rename("tmp", name_of(file)) == 0);
}

static void append(int file)
{
    struct model *now = &model[file];
    const size_t size = draw(3000) < LARGEST - now->size ? draw(500) : 0;
    FILE *out = fopen(name_of(file), "a");

    CHECK(out != NULL);
    if (now->size + size > LARGEST) {
        CHECK(fclose(out) == 0);
        return;
    }
    fill(now->bytes + now->size, size);
    CHECK(fwrite(now->bytes + now->size, 1, size, out) == size &&
          fclose(out) == 0);
    now->size += size;
    now->exists = 1;
}

static void cut(int file)
{
    struct model *now = &model[file];
    const size_t size = draw(now->size + 1);

    CHECK(truncate(name_of(file), (off_t)size) == 0);
    now->size = size;
}

static void drop(int file)
{
    CHECK(draw(2) == 0 ? unlink(name_of(file)) == 0 : remove(name_of(file)) == 0);
    model[file].exists = 0;
    model[file].size = 0;
}

/* ---- Changes in place -------------------------------------------------------------- */

static void overwrite(int file)
{
    struct model *now = &model[file];
    const size_t start = draw(now->size), most = now->size - start;
    const size_t size = draw(most < 9000 ? most + 1 : 9000);
    unsigned char *bytes = now->bytes + start;

    fill(bytes, size);
    switch (draw(4)) {
    case 0: {
        FILE *out = fopen(name_of(file), "r+");

        CHECK(out != NULL && fseek(out, (long)start, SEEK_SET) == 0 &&
              fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
        break;
    }
    case 1: {
        const int fd = open(name_of(file), O_WRONLY);
        const struct iovec part[2] = {{bytes, size / 2},
                                      {bytes + size / 2, size - size / 2}};

        CHECK(fd >= 0 && lseek(fd, (off_t)start, SEEK_SET) == (off_t)start &&
              writev(fd, part, 2) == (ssize_t)size && close(fd) == 0);
        break;
    }
    case 2: {
        const int fd = open(name_of(file), O_RDWR);

        CHECK(fd >= 0 && pwrite(fd, bytes, size, (off_t)start) == (ssize_t)size &&
              close(fd) == 0);
        break;
    }
    default: {
        const int fd = open(name_of(file), O_RDWR);
        unsigned char *map = mmap(NULL, now->size, PROT_READ | PROT_WRITE,
                                  MAP_SHARED, fd, 0);

        CHECK(fd >= 0 && map != MAP_FAILED);
        memcpy(map + start, bytes, size);
        CHECK(munmap(map, now->size) == 0 && close(fd) == 0);
        break;
    }
    }
}

/* ---- Names -------------------------------------------------------------------------- */

static void exchange(int file)
{
    const int other = (int)draw(FILES);
    static struct model former;

    if (other == file || !model[other].exists) {
        return;
    }
    if (draw(2) == 0) {
        CHECK(renameat2(AT_FDCWD, name_of(file), AT_FDCWD, name_of(other),
                        RENAME_EXCHANGE) == 0);
        former = model[file];
        model[file] = model[other];
        model[other] = former;
    } else {
        CHECK(rename(name_of(file), name_of(other)) == 0);
        model[other] = model[file];
        model[file].exists = 0;
        model[file].size = 0;
    }
}

static void change_attributes(int file)
{
    const struct timespec times[2] = {{1000000000 + step, 5}, {1100000000 + step, 7}};

    CHECK(chmod(name_of(file), draw(2) == 0 ? 0600 : 0640) == 0);
    CHECK(utimensat(AT_FDCWD, name_of(file), times, 0) == 0);
}

/* Makes and removes links and directories, and renames those of earlier steps. */
static void play_with_names(void)
{
    char target[64];

    snprintf(target, sizeof(target), "target-%d", step);
    (void)unlink("link");
    CHECK(symlink(target, "link") == 0);
    (void)unlink("hard");
    if (model[1].exists) {
        CHECK(link(name_of(1), "hard") == 0);
        CHECK(unlink("hard") == 0);
    }
    if (access("moved", F_OK) == 0) {
        CHECK(rename("moved", "directory") == 0);
    } else if (access("directory", F_OK) == 0) {
        CHECK(rename("directory", "moved") == 0);
    } else {
        CHECK(mkdir("directory", 0755) == 0);
    }
    if (mkdir("passing", 0700) == 0) {
        CHECK(rmdir("passing") == 0);
    }
    const char *inside = access("moved", F_OK) == 0 ? "moved/note" : "directory/note";
    FILE *note = fopen(inside, "w");
    CHECK(note != NULL && fprintf(note, "step %d\n", step) > 0 && fclose(note) == 0);
}

/* ---- Other processes ------------------------------------------------------------------ */

static void let_others(int file)
{
    char command[200];
    pid_t child;
    int status;

    if (draw(2) == 0) {
        snprintf(command, sizeof(command), "echo %d > by-shell && mv by-shell %s", step,
                 name_of(file));
        CHECK(system(command) == 0);
        model[file].size =
            (size_t)snprintf((char *)model[file].bytes, 32, "%d\n", step);
        model[file].exists = 1;
        return;
    }
    fill(model[file].bytes, 700);
    child = fork();
    if (child == 0) {
        FILE *out = fopen(name_of(file), "w");

        _exit(out == NULL || fwrite(model[file].bytes, 1, 700, out) != 700 ||
              fclose(out) != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    model[file].size = 700;
    model[file].exists = 1;
}

/* ---- Steps ------------------------------------------------------------------------------ */

static void change(int file)
{
    struct model *now = &model[file];

    if (!now->exists) {
        if (draw(3) == 0) {
            replace(file);
        } else if (draw(2) == 0) {
            write_otherwise(file);
        } else {
            write_new(file, name_of(file));
        }
        return;
    }
    switch (draw(10)) {
    case 0:
        write_new(file, name_of(file));
        break;
    case 1:
        write_otherwise(file);
        break;
    case 2:
        replace(file);
        break;
    case 3:
        append(file);
        break;
    case 4:
        cut(file);
        break;
    case 5:
        drop(file);
        break;
    case 6:
        exchange(file);
        break;
    case 7:
        change_attributes(file);
        break;
    case 8:
        if (draw(4) == 0) {
            let_others(file);
        }
        break;
    default:
        break;
    }
    if (model[file].exists && draw(3) == 0) {
        overwrite_otherwise(file);
    } else if (model[file].exists && model[file].size > 0 && draw(2) == 0) {
        overwrite(file);
    }
}

static void compare(int file)
{
    static unsigned char bytes[LARGEST + 1];
    const struct model *now = &model[file];
    const int fd = open(name_of(file), O_RDONLY);

    if (!now->exists) {
        CHECK(fd < 0 && errno == ENOENT);
        return;
    }
    CHECK(fd >= 0);
    CHECK(read(fd, bytes, sizeof(bytes)) == (ssize_t)now->size);
    CHECK(memcmp(bytes, now->bytes, now->size) == 0);
    CHECK(close(fd) == 0);
}

/* One rank appends a line; each rank writes its own block. */
static void change_shared(void)
{
    unsigned char block[BLOCK];
    FILE *log;
    int fd;

    if (step % ranks == rank) {
        log = fopen("../" SHARED_DIR "/log", "a");
        CHECK(log != NULL && fprintf(log, "step %d rank %d\n", step, rank) > 0 &&
              fclose(log) == 0);
    }
    memset(block, 'a' + step % 26, sizeof(block));
    fd = open("../" SHARED_DIR "/blocks", O_WRONLY | O_CREAT, 0644);
    CHECK(fd >= 0 && pwrite(fd, block, sizeof(block), (off_t)rank * BLOCK) == BLOCK &&
          close(fd) == 0);
    CHECK(dprintf(kept_open, "step %d\n", step) > 0);
}

static void begin(const char *directory)
{
    char own[64];

    CHECK(chdir(directory) == 0);
    if (rank == 0) {
        CHECK(mkdir(SHARED_DIR, 0755) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(own, sizeof(own), "rank.%d", rank);
    CHECK(mkdir(own, 0755) == 0 && chdir(own) == 0 && mkdir("sub", 0755) == 0);
    kept_open = open("kept-open", O_WRONLY | O_CREAT | O_APPEND, 0644);
    CHECK(kept_open >= 0);
    make_names();
    MPI_Barrier(MPI_COMM_WORLD); /* the shared directory exists */
    open_kept_files();
}

int main(int argc, char **argv)
{
    int steps;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) {
        fprintf(stderr, "usage: tree_writer DIRECTORY STEPS SEED PAUSE_US\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    steps = atoi(argv[2]);
    state = strtoull(argv[3], NULL, 10) * 1000003 + (uint64_t)rank * 7919 + 1;
    begin(argv[1]);
    for (step = 1; step <= steps; step++) {
        for (int i = 0; i < 3; i++) {
            change((int)draw(FILES));
        }
        play_with_names();
        change_names();
        change_shared();
        change_kept_files();
        for (int i = 0; i < FILES; i++) {
            compare(i);
        }
        compare_names();
        compare_kept_files();
        if (rank == 0) {
            printf("step %d\n", step);
            fflush(stdout);
        }
        usleep((useconds_t)atoi(argv[4]));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
