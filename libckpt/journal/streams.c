/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * streams.c - identifies files that are standard streams from the launcher.
 */
#include "journal/streams.h"

#include "sys/syscall.h"

static struct {
    dev_t device;
    ino_t inode;
    int is_file;
    int is_given; /* at the last mark the descriptor referred to this stream */
} streams[3];

static void learn(int fd)
{
    struct stat status;

    streams[fd].is_file =
        ckpt_sys_fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (streams[fd].is_file) {
        streams[fd].device = status.st_dev;
        streams[fd].inode = status.st_ino;
    }
}

void ckpt_journal_streams_open(void)
{
    for (int fd = 0; fd < 3; fd++) {
        learn(fd);
    }
}

static int is_same(int stream, const struct stat *status)
{
    return streams[stream].is_file &&
           streams[stream].device == status->st_dev &&
           streams[stream].inode == status->st_ino;
}

void ckpt_journal_streams_mark(void)
{
    struct stat status;

    for (int fd = 0; fd < 3; fd++) {
        streams[fd].is_given =
            ckpt_sys_fstat(fd, &status) == 0 &&
            (!S_ISREG(status.st_mode) || is_same(fd, &status));
    }
}

void ckpt_journal_streams_resume(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (streams[fd].is_given) {
            learn(fd);
        }
    }
}

int ckpt_journal_is_stream(const struct stat *status)
{
    return is_same(0, status) || is_same(1, status) || is_same(2, status);
}
