/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_kept.c - files that stay open, or mapped, over all steps; and files to which all ranks
 * append.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "tree_writer.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPED (3 * 4096) /* bytes */

/* The file is open for reading and writing. */
static struct model rewritten;
static unsigned char mapped_bytes[MAPPED];
static unsigned char *map;
static int kept, lines;
/* The stream writes its buffer when it is full. */
static FILE *stream;
static long stream_length;

void open_kept_files(void)
{
    int fd = open("kept-mapped", O_RDWR | O_CREAT | O_EXCL, 0644);

    CHECK(fd >= 0 && ftruncate(fd, MAPPED) == 0);
    map = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED && close(fd) == 0);
    kept = open("kept-rewritten", O_RDWR | O_CREAT, 0600);
    CHECK(kept >= 0);
    stream = fopen("kept-stream", "w");
    CHECK(stream != NULL);
    lines = open("../" SHARED_DIR "/lines", O_WRONLY | O_CREAT | O_APPEND, 0644);
    CHECK(lines >= 0);
}

/* All ranks append, in turn. */
static void append_lines(void)
{
    for (int turn = 0; turn < ranks; turn++) {
        if (turn == rank) {
            CHECK(dprintf(lines, "step %d rank %d\n", step, rank) > 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void rewrite(void)
{
    const size_t start = (size_t)draw(rewritten.size + 1);
    const size_t size = (size_t)draw(3000);

    if (start + size > LARGEST || draw(16) == 0) {
        rewritten.size = start;
        CHECK(ftruncate(kept, (off_t)start) == 0);
        return;
    }
    fill(rewritten.bytes + start, size);
    CHECK(pwrite(kept, rewritten.bytes + start, size, (off_t)start) == (ssize_t)size);
    rewritten.size = start + size > rewritten.size ? start + size : rewritten.size;
}

void change_kept_files(void)
{
    const size_t start = (size_t)draw(MAPPED), size = (size_t)draw(MAPPED - start);
    int length;

    fill(mapped_bytes + start, size);
    memcpy(map + start, mapped_bytes + start, size);
    rewrite();
    length = fprintf(stream, "step %d of rank %d\n", step, rank);
    CHECK(length > 0);
    stream_length += length;
    if (step % 4 == 0) {
        append_lines();
    }
}

void compare_kept_files(void)
{
    static unsigned char bytes[LARGEST + 1];

    CHECK(memcmp(map, mapped_bytes, MAPPED) == 0);
    CHECK(pread(kept, bytes, sizeof(bytes), 0) == (ssize_t)rewritten.size);
    CHECK(memcmp(bytes, rewritten.bytes, rewritten.size) == 0);
    CHECK(ftell(stream) == stream_length);
}
