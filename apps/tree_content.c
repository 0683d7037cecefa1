/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_content.c - the less common ways to make and to change a file: unnamed files that get a
 * name, reopened streams, copies inside the kernel, holes, and child processes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "tree_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

extern char **environ;

static void close_file(int fd)
{
    CHECK(fd >= 0 && close(fd) == 0);
}

static void write_bytes(int fd, const struct model *now)
{
    CHECK(fd >= 0 && write(fd, now->bytes, now->size) == (ssize_t)now->size);
}

static void draw_content(struct model *now)
{
    now->size = (size_t)draw(9000);
    now->exists = 1;
    fill(now->bytes, now->size);
}

/* ---- A new file -------------------------------------------------------------------- */

static void write_by_creat(int file)
{
    const int fd = draw(2) == 0 ? creat(name_of(file), 0644)
                                : creat64(name_of(file), 0644);

    draw_content(&model[file]);
    write_bytes(fd, &model[file]);
    close_file(fd);
}

/* Makes a file without a name at first, or, if that is not possible, under another name. */
static void write_unnamed(int file)
{
    char link[64];
    int fd = open(".", O_TMPFILE | O_WRONLY, 0644);

    draw_content(&model[file]);
    CHECK(unlink(name_of(file)) == 0 || errno == ENOENT);
    if (fd >= 0) {
        write_bytes(fd, &model[file]);
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        CHECK(linkat(AT_FDCWD, link, AT_FDCWD, name_of(file), AT_SYMLINK_FOLLOW) ==
              0);
    } else {
        fd = openat64(AT_FDCWD, "unnamed", O_WRONLY | O_CREAT | O_EXCL, 0644);
        write_bytes(fd, &model[file]);
        CHECK(renameat(AT_FDCWD, "unnamed", AT_FDCWD, name_of(file)) == 0);
    }
    close_file(fd);
}

/* Uses a stream with a small buffer that goes back and overwrites; reopens another stream under
 * another name. */
static void write_by_stream(int file)
{
    struct model *now = &model[file];
    char buffer[512];
    FILE *out = fopen64("passing-stream", "w");

    draw_content(now);
    CHECK(out != NULL && fputs("not for long\n", out) >= 0);
    out = freopen(name_of(file), "w+", out);
    CHECK(out != NULL && setvbuf(out, buffer, _IOFBF, sizeof(buffer)) == 0);
    CHECK(fwrite(now->bytes, 1, now->size, out) == now->size);
    if (now->size > 100) {
        fill(now->bytes + 50, 40);
        CHECK(fseeko(out, 50, SEEK_SET) == 0);
        CHECK(fwrite(now->bytes + 50, 1, 40, out) == 40);
    }
    CHECK(fclose(out) == 0 && remove("passing-stream") == 0);
}

static void write_by_descriptor_stream(int file)
{
    struct model *now = &model[file];
    const int fd = openat(AT_FDCWD, name_of(file), O_RDWR | O_CREAT | O_TRUNC, 0600);
    FILE *out = fdopen(fd, "w");

    draw_content(now);
    CHECK(out != NULL && fwrite(now->bytes, 1, now->size, out) == now->size &&
          fclose(out) == 0);
}

/* Copies the content of another file in the kernel. */
static void write_copy(int file)
{
    const int other = (file + 1 + (int)draw(FILES - 1)) % FILES;
    struct model *now = &model[file];
    const int from = open(name_of(other), O_RDONLY);
    const int to = open64(name_of(file), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    size_t done = 0;
    ssize_t moved = 1;

    CHECK(to >= 0 && (from >= 0) == model[other].exists);
    now->exists = 1;
    now->size = model[other].exists ? model[other].size : 0;
    while (from >= 0 && done < now->size && moved > 0) {
        moved = step % 2 == 0 ? sendfile(to, from, NULL, now->size - done)
                              : copy_file_range(from, NULL, to, NULL,
                                                now->size - done, 0);
        done += moved > 0 ? (size_t)moved : 0;
    }
    CHECK(done == now->size);
    memcpy(now->bytes, model[other].bytes, now->size);
    if (from >= 0) {
        close_file(from);
    }
    close_file(to);
}

/* Starts another program that copies a file. */
static void write_by_program(int file)
{
    const int other = (file + 1) % FILES;
    char from[64], to[64];
    char *const arguments[] = {"cp", from, to, NULL};
    pid_t child;
    int status;

    if (!model[other].exists) {
        write_by_creat(file);
        return;
    }
    snprintf(from, sizeof(from), "%s", name_of(other));
    snprintf(to, sizeof(to), "%s", name_of(file));
    CHECK(posix_spawnp(&child, "cp", NULL, NULL, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    model[file] = model[other];
}

void write_otherwise(int file)
{
    static void (*const ways[])(int file) = {
        write_by_creat, write_unnamed, write_by_stream,
        write_by_descriptor_stream, write_copy, write_by_program};

    /* A process is expensive, so it is rare. */
    ways[draw(8) == 0 ? 5 : draw(5)](file);
}

/* ---- An existing file ---------------------------------------------------------------- */

/* Makes the file longer, with zeros, or shorter. */
static void resize(struct model *now, int fd)
{
    const size_t size = (size_t)draw(now->size + 5000);

    if (size > LARGEST) {
        return;
    }
    CHECK((draw(2) == 0 ? ftruncate(fd, (off_t)size)
                        : ftruncate64(fd, (off64_t)size)) == 0);
    if (size > now->size) {
        memset(now->bytes + now->size, 0, size - now->size);
    }
    now->size = size;
}

/* Makes a hole, and allocates space at the end. Not all file systems support that. */
static void allocate(struct model *now, int fd)
{
    const size_t start = (size_t)draw(now->size + 1), size = 1 + (size_t)draw(6000);
    const int mode = draw(2) == 0 ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : 0;
    size_t end = start + size;

    if (end > LARGEST) {
        return;
    }
    if (fallocate(fd, mode, (off_t)start, (off_t)size) != 0) {
        CHECK(errno == EOPNOTSUPP);
        return;
    }
    if (mode == 0) {
        if (end > now->size) {
            memset(now->bytes + now->size, 0, end - now->size);
            now->size = end;
        }
        return;
    }
    end = end < now->size ? end : now->size;
    if (end > start) {
        memset(now->bytes + start, 0, end - start);
    }
}

static void write_parts(struct model *now, int fd)
{
    const size_t start = (size_t)draw(now->size + 1);
    const size_t most = LARGEST - start < 7000 ? LARGEST - start : 7000;
    const size_t size = (size_t)draw(most + 1);
    unsigned char *bytes = now->bytes + start;
    const struct iovec parts[2] = {{bytes, size / 3}, {bytes + size / 3, size - size / 3}};

    fill(bytes, size);
    CHECK((draw(2) == 0 ? pwritev(fd, parts, 2, (off_t)start)
                        : pwrite64(fd, bytes, size, (off64_t)start)) == (ssize_t)size);
    now->size = start + size > now->size ? start + size : now->size;
}

static void write_mapped(struct model *now, int fd)
{
    const size_t start = (size_t)draw(now->size), size = (size_t)draw(now->size - start + 1);
    unsigned char *map =
        mmap(NULL, now->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    CHECK(map != MAP_FAILED);
    fill(now->bytes + start, size);
    memcpy(map + start, now->bytes + start, size);
    CHECK(msync(map, now->size, draw(2) == 0 ? MS_SYNC : MS_ASYNC) == 0);
    CHECK(munmap(map, now->size) == 0);
}

static void change_attributes_by_descriptor(struct model *now, int fd)
{
    const struct timeval times[2] = {{1000000000 + step, 1}, {1100000000 + step, 2}};
    const struct timespec exact[2] = {{1000000000 + step, 3}, {1100000000 + step, 4}};

    (void)now;
    CHECK(fchmod(fd, draw(2) == 0 ? 0604 : 0640) == 0);
    CHECK((draw(2) == 0 ? futimes(fd, times) : futimens(fd, exact)) == 0);
}

void overwrite_otherwise(int file)
{
    static void (*const ways[])(struct model * now, int fd) = {
        resize, allocate, write_parts, write_mapped,
        change_attributes_by_descriptor};
    struct model *now = &model[file];
    const int fd = open(name_of(file), O_RDWR);
    const struct utimbuf times = {1000000000 + step, 1100000000 + step};

    CHECK(fd >= 0);
    ways[draw(now->size > 0 ? 5 : 3)](now, fd);
    close_file(fd);
    if (draw(8) == 0) {
        CHECK(fchmodat(AT_FDCWD, name_of(file), 0600, 0) == 0);
        CHECK(utime(name_of(file), &times) == 0);
    }
}
