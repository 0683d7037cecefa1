/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content_hash.c - hashes the content of a file that has just changed.
 */
#include "journal/log/content_hash.h"

#include "journal/log/checksum.h"
#include "journal/log/record_locks.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <time.h>

#define NANOSECONDS 1000000000L
#define FINE        (20 * 1000000L)   /* ns: two ticks of the slowest kernel clock */
#define COARSE      (2 * NANOSECONDS) /* ns: granularity of FAT; other file systems have at most \
                                         1 s */
#define MOST (UINT64_C(32) << 20)     /* bytes that a mark may hash: about 10 ms */

static uint64_t hashed; /* bytes hashed for this mark */

struct subject {
    const char *path;
    uint64_t size;
    uint32_t state; /* state of the checksum */
};

/* Adds bytes [start, end) of the file to the checksum. Returns 0 or -errno. */
static int hash_range(struct subject *subject, int fd, uint64_t start, uint64_t end)
{
    static char buffer[1u << 13];

    while (start < end) {
        const size_t wanted =
            end - start < sizeof(buffer) ? end - start : sizeof(buffer);
        const long got = ckpt_sys_pread(fd, buffer, wanted, (int64_t)start);

        if (got == 0) {
            return -EIO; /* the file has become shorter */
        }
        if (got < 0 && got != -EINTR) {
            return (int)got;
        }
        if (got > 0) {
            subject->state = ckpt_checksum(subject->state, buffer, (size_t)got);
            start += (uint64_t)got;
        }
    }
    return 0;
}

/* Hashes the file of a struct subject. Returns 0 or -errno. */
static int hash(void *argument)
{
    struct subject *subject = argument;
    const uint64_t size = subject->size;
    const uint64_t part =
        size < CKPT_JOURNAL_HASHED_BYTES ? size : CKPT_JOURNAL_HASHED_BYTES;
    const int fd = (int)ckpt_sys_open(subject->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    int error;

    if (fd < 0) {
        return fd;
    }
    error = hash_range(subject, fd, 0, part);
    if (error == 0) {
        error = hash_range(subject, fd, size - part, size);
    }
    ckpt_sys_close(fd);
    return error;
}

/* Returns 1 if the file has changed very recently. Assumes that the clocks of a file server and
 * of this host agree. */
static int has_just_changed(const struct stat *status)
{
    const struct timespec *modified = &status->st_mtim;
    const int64_t granularity = modified->tv_nsec == 0 ? COARSE : FINE;
    struct timespec now;

    if (ckpt_sys_clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        now.tv_sec - modified->tv_sec > 2 * COARSE / NANOSECONDS) {
        return 0;
    }
    return modified->tv_sec - now.tv_sec > 0 ||
           (now.tv_sec - modified->tv_sec) * NANOSECONDS + now.tv_nsec -
                   modified->tv_nsec <
               granularity;
}

void ckpt_content_hash_begin(void)
{
    hashed = 0;
}

void ckpt_content_hash_add(struct ckpt_journal_record *record, const char *path,
                           const struct stat *status)
{
    struct subject subject = {path, (uint64_t)status->st_size, CKPT_CHECKSUM_START};

    if (hashed >= MOST || subject.size == 0 || !has_just_changed(status)) {
        return;
    }
    hashed += 2 * (subject.size < CKPT_JOURNAL_HASHED_BYTES ? subject.size
                                                            : CKPT_JOURNAL_HASHED_BYTES);
    if (ckpt_record_locks_spare(hash, &subject) == 0) {
        record->flags |= CKPT_JOURNAL_HASHED;
        record->value = (uint32_t)~subject.state;
    }
}
