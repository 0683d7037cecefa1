/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content.c - saves the content of a file in the image, up to a limit.
 */
#include "files/file_kind.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MEBIBYTE ((uint64_t)1 << 20)
#define COMPARED 65536 /* bytes compared at a time */

/* Size from which a file is mapped instead of copied, since a copy would need too much
 * memory. */
#define MAPPED_FROM (16 * MEBIBYTE)
_Static_assert(MAPPED_FROM % 4096 == 0, "whole pages are mapped");

/* The user's limit in bytes. UINT64_MAX: none; then the free space of the directory is the
 * limit. */
static uint64_t content_limit = UINT64_MAX;
static char content_directory[PATH_MAX];

/* Parses a size such as "4096", "64K", "64M" or "2G" into bytes. Returns 1, or 0 if it is
 * invalid. */
static int parse_limit(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMG";
    const char *end = ckpt_text_decimal(text, bytes);
    const char *unit;

    if (end == NULL || *end == '\0') {
        return end != NULL;
    }
    unit = strchr(units, *end);
    if (unit == NULL || end[1] != '\0' || *bytes > UINT64_MAX >> 30) {
        return 0;
    }
    *bytes <<= 10 * (unit - units + 1);
    return 1;
}

void ckpt_file_limit_open(void)
{
    const char *text = getenv("CKPT_FILE_LIMIT");
    uint64_t value;

    content_limit = UINT64_MAX;
    if (text == NULL) {
        return;
    }
    if (parse_limit(text, &value)) {
        content_limit = value;
    } else {
        fprintf(stderr, "ckpt: CKPT_FILE_LIMIT=%s: invalid number of bytes\n",
                text);
    }
}

void ckpt_files_keep_in(const char *directories)
{
    const char *next = directories != NULL ? directories : "";
    size_t length = 0;

    while (*next != '\0' && *next != ',' && length + 1 < sizeof content_directory) {
        next += next[0] == '\\' && next[1] == ',' ? 1 : 0; /* escaped comma in a name */
        content_directory[length++] = *next++;
    }
    content_directory[length] = '\0';
}

/* Free bytes in the directory of the checkpoints; UINT64_MAX if unknown. */
static uint64_t free_space(void)
{
    struct statfs system;

    if (content_directory[0] == '\0' ||
        ckpt_syscall3(SYS_statfs, (long)content_directory, (long)&system, 0) != 0) {
        return UINT64_MAX;
    }
    return (uint64_t)system.f_bavail * (uint64_t)system.f_bsize;
}

/* Checks whether the image may hold `size` bytes. Returns 0 or -ENOTSUP with the reason. */
static int check_limit(const struct ckpt_file_probe *probe, uint64_t size, const char *what,
                       struct ckpt_failure *failure)
{
    if (content_limit == UINT64_MAX) {
        const uint64_t left = free_space();

        return size <= left
                   ? 0
                   : ckpt_refuse(failure, CKPT_REFUSAL_NO_SPACE, -ENOTSUP,
                                 "descriptor %d (%s) cannot be saved: it is %s, and its %l bytes "
                                 "exceed the free space in %s (%l)",
                                 probe->fd, probe->path, what, (long)size, content_directory,
                                 (long)left);
    }
    return size <= content_limit
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_LARGE_FILE, -ENOTSUP,
                             "descriptor %d (%s) cannot be saved: it is %s, and "
                             "its %l bytes exceed CKPT_FILE_LIMIT (%l); start the "
                             "job with CKPT_FILE_LIMIT=%lM or more",
                             probe->fd, probe->path, what, (long)size, (long)content_limit,
                             (long)((size + MEBIBYTE - 1) / MEBIBYTE));
}

/* Returns a saved descriptor that already has this file's content, or NULL. */
static const struct ckpt_file *find_content(const struct ckpt_file_save *save,
                                            const struct ckpt_file *file)
{
    for (size_t i = 0; i < save->count; i++) {
        const struct ckpt_file *other = &save->files[i];

        if (other->kind == file->kind && other->payload != 0 &&
            other->device == file->device && other->inode == file->inode) {
            return other;
        }
    }
    return NULL;
}

/* Returns a descriptor to read the file by. It is the program's own if that can read: closing
 * another descriptor would release the program's record locks. Otherwise it opens a new one.
 * -errno with the reason. */
static int open_to_read(const struct ckpt_file_probe *probe,
                        struct ckpt_failure *failure)
{
    char link[64];
    long fd;

    if ((probe->status_flags & O_ACCMODE) != O_WRONLY) {
        return probe->fd;
    }
    ckpt_text_format(link, sizeof link, "/proc/self/fd/%d", probe->fd);
    fd = ckpt_sys_open(link, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNREADABLE_FILE,
                           fd == -EACCES ? -ENOTSUP : (int)fd,
                           "descriptor %d (%s) cannot be saved: it is open for "
                           "writing only and cannot be opened for reading: %s",
                           probe->fd, probe->path,
                           fd == -EACCES ? "its mode forbids that"
                                         : "the kernel refuses it");
    }
    return (int)fd;
}

struct ckpt_range ckpt_file_next_data(int fd, uint64_t from, uint64_t size)
{
    const int64_t start = ckpt_sys_lseek(fd, (int64_t)from, SEEK_DATA);
    int64_t end;

    if (start == -ENXIO || from >= size) {
        return (struct ckpt_range){size, size};
    }
    end = start < 0 ? start : ckpt_sys_lseek(fd, start, SEEK_HOLE);
    if (end < 0) {
        return (struct ckpt_range){from, size};
    }
    return (struct ckpt_range){(uint64_t)start < size ? (uint64_t)start : size,
                               (uint64_t)end < size ? (uint64_t)end : size};
}

/* Bytes of the file that are data, not holes. */
static uint64_t data_size(int fd, uint64_t size)
{
    struct ckpt_range part = {0, 0};
    uint64_t sum = 0;

    do {
        part = ckpt_file_next_data(fd, part.end, size);
        CKPT_INVARIANT(part.start <= part.end && part.end <= size);
        sum += part.end - part.start;
    } while (part.end < size);
    return sum;
}

/* Reads one range of the file to its place in `bytes`. Returns 0 or -errno. */
static int read_part(int fd, char *bytes, const struct ckpt_range *part)
{
    uint64_t done = part->start;
    long result = 1;

    while (done < part->end && (result > 0 || result == -EINTR)) {
        result = ckpt_sys_pread(fd, bytes + done, part->end - done, (int64_t)done);
        done += result > 0 ? (uint64_t)result : 0;
    }
    CKPT_INVARIANT(done <= part->end);
    if (done < part->end) {
        return result < 0 ? (int)result : -EIO;
    }
    return 0;
}

/* Skips holes, since the new memory is zero. Returns 0 or -errno. */
static int read_all(int fd, char *bytes, uint64_t size)
{
    struct ckpt_range part = {0, 0};
    int error = 0;

    while (error == 0 && part.end < size) {
        part = ckpt_file_next_data(fd, part.end, size);
        error = read_part(fd, bytes, &part);
    }
    return error;
}

/* Puts the content of the file into the payload. fd: to read the file by; its position changes.
 * Returns 0 or -errno with the reason. */
static int save_from(const struct ckpt_file_save *save, int fd,
                     const struct ckpt_file_probe *probe, struct ckpt_file *file,
                     const char *what, struct ckpt_failure *failure)
{
    const uint64_t size = data_size(fd, file->size);
    char *bytes;
    int error;

    error = check_limit(probe, size, what, failure);
    if (error != 0) {
        return error;
    }
    if (file->size >= MAPPED_FROM) { /* also if mostly holes: they need addresses, too */
        const int result = ckpt_file_map_content(save, fd, file, failure);

        if (result != 0) {
            return result < 0 ? result : 0;
        }
    }
    bytes = (char *)ckpt_file_payload(file, file->size);
    if (bytes == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the content of %s",
                         probe->path);
    }
    if ((probe->status_flags & O_DIRECT) != 0) { /* the buffer is not aligned for O_DIRECT */
        (void)ckpt_sys_fcntl(fd, F_SETFL, probe->status_flags & ~O_DIRECT);
    }
    error = read_all(fd, bytes, file->size);
    if ((probe->status_flags & O_DIRECT) != 0) {
        (void)ckpt_sys_fcntl(fd, F_SETFL, probe->status_flags);
    }
    return error == 0 ? 0
                      : ckpt_fail(failure, error, "cannot read %s: error %d",
                                  probe->path, -error);
}

int ckpt_file_save_content(const struct ckpt_file_save *save,
                           const struct ckpt_file_probe *probe,
                           struct ckpt_file *file, const char *what,
                           struct ckpt_failure *failure)
{
    const struct ckpt_file *other = find_content(save, file);
    int error;
    int fd;

    if (other != NULL || file->size == 0) {
        CKPT_INVARIANT(other == NULL || other->payload_size == other->size);
        file->payload = other == NULL ? 0 : other->payload;
        file->payload_size = other == NULL ? 0 : other->payload_size;
        return 0;
    }
    fd = open_to_read(probe, failure);
    if (fd < 0) {
        return fd;
    }
    error = save_from(save, fd, probe, file, what, failure);
    if (fd != probe->fd) {
        ckpt_sys_close(fd);
    } else if (ckpt_sys_lseek(fd, (int64_t)file->offset, SEEK_SET) < 0 && error == 0) {
        error = ckpt_fail(failure, -EIO, "the position in %s is lost", probe->path);
    }
    return error;
}

/* Returns 1 if [start, start + size) of the file already holds these bytes. */
static int has_bytes(int fd, const char *bytes, size_t size, uint64_t start)
{
    static char found[COMPARED];
    size_t done = 0;
    ssize_t result = 1;

    CKPT_INVARIANT(size <= sizeof found);
    while (done < size && result > 0) {
        result = pread(fd, found, size - done, (off_t)(start + done));
        if (result > 0 && memcmp(found, bytes + done, (size_t)result) != 0) {
            return 0;
        }
        done += result > 0 ? (size_t)result : 0;
    }
    return done == size;
}

/* Writes the bytes at `start`. Returns 0 or -errno. */
static int write_bytes(int fd, const char *bytes, size_t size, uint64_t start)
{
    size_t done = 0;

    while (done < size) {
        ssize_t result =
            pwrite(fd, bytes + done, size - done, (off_t)(start + done));

        if (result == 0 || (result < 0 && errno != EINTR)) {
            return result == 0 ? -EIO : -errno;
        }
        done += result > 0 ? (size_t)result : 0;
    }
    return 0;
}

int ckpt_file_write_content(const struct ckpt_file_restore *restore,
                            const struct ckpt_file *file, int fd)
{
    const char *bytes = (const char *)ckpt_file_saved_bytes(restore, file);
    int error = 0;

    if (file->payload_size != 0 && bytes == NULL) {
        return -EINVAL;
    }
    for (uint64_t start = 0; start < file->payload_size && error == 0;
         start += COMPARED) {
        const uint64_t left = file->payload_size - start;
        const size_t size = left < COMPARED ? (size_t)left : COMPARED;

        if (!has_bytes(fd, bytes + start, size, start)) {
            error = write_bytes(fd, bytes + start, size, start);
        }
        if (restore->saved.written != NULL) {
            restore->saved.written(restore->saved.argument, file->payload + start, size);
        }
    }
    return error;
}

int ckpt_files_make_unnamed(const char *path)
{
    return ckpt_text_starts(path, "/memfd:") ? ckpt_file_make_memory(path)
                                             : ckpt_file_make_deleted(path);
}

/* Returns a duplicate of the descriptor that the caller gave for the file, or -1. */
static int find_given(const struct ckpt_file_restore *restore,
                      const struct ckpt_file *file)
{
    const int fd = ckpt_file_given(restore, file->inode,
                                   restore->saved.strings + file->path);

    return fd < 0 ? -1 : dup(fd);
}

/* Returns 1 if another rank that shares the memory file has already restored and sealed it. */
static int is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);

    return seals > 0 && (seals & F_SEAL_WRITE) != 0;
}

/* Makes the file, once for all its descriptors. Returns NULL with *error_p set if that
 * fails. */
static struct ckpt_file_made *make_file(struct ckpt_file_restore *restore,
                                        const struct ckpt_file *file,
                                        int *error_p)
{
    struct ckpt_file_made *made;
    int fd = find_given(restore, file);
    const int is_given = fd >= 0;

    if (!is_given) {
        fd = ckpt_files_make_unnamed(restore->saved.strings + file->path);
    }
    if (fd < 0) {
        *error_p = fd;
        return NULL;
    }
    made = ckpt_file_add_made(restore, file, fd, -1);
    if (made == NULL) {
        *error_p = -EMFILE;
        return NULL;
    }
    /* Sets the size first: zero bytes then stay holes. */
    if (!is_given && ftruncate(made->fds[0], (off_t)file->size) != 0) {
        *error_p = -errno;
        return NULL;
    }
    *error_p = ckpt_file_write_content(restore, file, made->fds[0]);
    if (*error_p == -EPERM && is_given && is_sealed(made->fds[0])) {
        *error_p = 0;
    }
    return *error_p == 0 ? made : NULL;
}

int ckpt_file_restore_content(struct ckpt_file_restore *restore,
                              const struct ckpt_file *file,
                              struct ckpt_failure *failure)
{
    struct ckpt_file_made *made = ckpt_file_find_made(restore, file);
    int error = 0;
    int fd;

    if (made == NULL) {
        made = make_file(restore, file, &error);
    }
    fd = made == NULL ? error : ckpt_file_open_anew(file, made->fds[0]);
    if (fd >= 0 && lseek(fd, (off_t)file->offset, SEEK_SET) < 0) {
        error = -errno;
        close(fd);
        fd = error;
    }
    return fd < 0 ? ckpt_file_lost(restore, file, fd, strerror(-fd), failure)
                  : fd;
}
