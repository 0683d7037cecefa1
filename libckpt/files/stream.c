/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c - the standard streams the launcher gave, and duplicates of them:
 * after a restart they are the new launcher's.
 *
 * A descriptor is a stream when it leads to the same pipe, socket or terminal
 * as descriptor 0, 1 or 2 did at program start. Streams redirected to a file
 * are ordinary files.
 */
#include "files/file_kind.h"

#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FIRST_UNIX98_PTY_MAJOR 136u
#define LAST_UNIX98_PTY_MAJOR 143u
#define TTY_MAJOR 4u

/* The launcher's streams; type 0: not open, or no stream in our sense. */
static struct {
    dev_t device;
    ino_t inode;
    mode_t type;
} streams[3];

static int is_terminal(const struct stat *status)
{
    unsigned number = major(status->st_rdev);

    return S_ISCHR(status->st_mode) &&
           (number == TTY_MAJOR || (number >= FIRST_UNIX98_PTY_MAJOR &&
                                    number <= LAST_UNIX98_PTY_MAJOR));
}

static void learn(int stream, int fd)
{
    struct stat status;

    streams[stream].type = 0;
    if (ckpt_sys_fstat(fd, &status) == 0 &&
        (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
         S_ISCHR(status.st_mode))) {
        streams[stream].device = status.st_dev;
        streams[stream].inode = status.st_ino;
        streams[stream].type = status.st_mode & S_IFMT;
    }
}

void ckpt_file_streams_open(void)
{
    for (int i = 0; i < 3; i++) {
        learn(i, i);
    }
}

void ckpt_file_streams_resume(const struct ckpt_file *files, size_t count)
{
    for (int i = 0; i < 3; i++) {
        streams[i].type = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (files[i].kind == CKPT_FILE_STREAM && files[i].detail < 3) {
            learn((int)files[i].detail, files[i].descriptor);
        }
    }
}

static int is_stream(const struct ckpt_file_probe *probe, int stream)
{
    return streams[stream].type == (probe->status.st_mode & S_IFMT) &&
           streams[stream].device == probe->status.st_dev &&
           streams[stream].inode == probe->status.st_ino;
}

/* Which stream it is, or -1. Several may be one and the same terminal. */
static int find_stream(const struct ckpt_file_probe *probe)
{
    static const int order[] = {1, 2, 0};

    if (probe->fd <= 2 && is_stream(probe, probe->fd)) {
        return probe->fd;
    }
    if (S_ISCHR(probe->status.st_mode) && !is_terminal(&probe->status)) {
        return -1; /* /dev/null, which the program may have opened itself */
    }
    if ((probe->status_flags & O_ACCMODE) == O_RDONLY) {
        return is_stream(probe, 0) ? 0 : -1;
    }
    for (int i = 0; i < 3; i++) {
        if (is_stream(probe, order[i])) {
            return order[i];
        }
    }
    return -1;
}

static int matches(const struct ckpt_file_probe *probe)
{
    return find_stream(probe) >= 0;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    (void)save;
    (void)failure;
    file->detail = (uint32_t)find_stream(probe);
    return 0;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int fd = -1;

    if (file->detail < 3) {
        fd = restore->streams[file->detail];
    }
    if (fd < 0) {
        return ckpt_file_lost(restore, file, -EBADF,
                              "the launcher gave no such stream", failure);
    }
    fd = dup(fd);
    return fd < 0 ? ckpt_file_lost(restore, file, -errno,
                                   "there are too many descriptors", failure)
                  : fd;
}

const struct ckpt_file_ops ckpt_file_stream = {
    .kind = CKPT_FILE_STREAM,
    .shared = 0, /* one terminal now may be two pipes after the restart */
    .matches = matches,
    .save = save,
    .restore = restore,
};
