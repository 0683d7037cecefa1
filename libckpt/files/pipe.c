/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipe.c - pipes with both ends in this process, or one end if all others are
 * closed: made again with the bytes that were in them.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int matches(const struct ckpt_file_probe *probe)
{
    return S_ISFIFO(probe->status.st_mode) &&
           ckpt_text_starts(probe->path, "pipe:[");
}

static int is_read_end(int status_flags)
{
    return (status_flags & O_ACCMODE) != O_WRONLY;
}

static int is_write_end(int status_flags)
{
    return (status_flags & O_ACCMODE) != O_RDONLY;
}

/* 1 if a descriptor of this process is the wanted end of the pipe. */
static int has_end(const struct ckpt_file_save *save,
                   const struct ckpt_file_probe *probe, int (*is_end)(int))
{
    for (size_t i = 0; i < save->descriptor_count; i++) {
        int fd = save->descriptors[i];
        struct stat status;

        if (ckpt_sys_fstat(fd, &status) == 0 &&
            status.st_ino == probe->status.st_ino &&
            status.st_dev == probe->status.st_dev &&
            is_end((int)ckpt_sys_fcntl(fd, F_GETFL, 0))) {
            return 1;
        }
    }
    return 0;
}

/* 1 if nobody has the other end open any more, as of a pipe to a child that has
 * ended: reading comes to the end, writing fails. It stays so. */
static int is_broken(const struct ckpt_file_probe *probe)
{
    struct pollfd end = {.fd = probe->fd, .events = 0};

    return ckpt_syscall3(SYS_poll, (long)&end, 1, 0) == 1 &&
           (end.revents & (POLLHUP | POLLERR)) != 0;
}

/* Copies what is in the pipe without taking it out: tee() into a second pipe.
 * 0 or -errno. */
static int copy_bytes(int fd, int capacity, char *bytes, size_t size)
{
    size_t done = 0;
    long result;
    int ends[2];

    result = ckpt_sys_pipe2(ends, O_CLOEXEC);
    if (result < 0) {
        return (int)result;
    }
    ckpt_sys_fcntl(ends[1], F_SETPIPE_SZ, capacity);
    result = ckpt_syscall4(SYS_tee, fd, ends[1], capacity, SPLICE_F_NONBLOCK);
    if (result == (long)size) {
        do {
            result = ckpt_sys_read(ends[0], bytes + done, size - done);
            done += result > 0 ? (size_t)result : 0;
        } while (done < size && (result > 0 || result == -EINTR));
    }
    ckpt_sys_close(ends[0]);
    ckpt_sys_close(ends[1]);
    if (result < 0) {
        return (int)result;
    }
    return done == size ? 0 : -EIO;
}

static int save_bytes(const struct ckpt_file_probe *probe,
                      struct ckpt_file *file, struct ckpt_failure *failure)
{
    int size = 0;
    char *bytes;
    long result;

    result = ckpt_sys_ioctl(probe->fd, FIONREAD, &size);
    if (result == 0 && size == 0) {
        return 0;
    }
    if (result == 0 && (file->status_flags & O_DIRECT) != 0) {
        return ckpt_file_refuse(probe, "a pipe with packets in it", failure);
    }
    if (result == 0) {
        bytes = (char *)ckpt_file_payload(file, (size_t)size);
        result = bytes == NULL ? -ENOMEM
                               : copy_bytes(probe->fd, (int)file->detail,
                                            bytes, (size_t)size);
    }
    if (result < 0) {
        return ckpt_fail(failure, (int)result,
                         "cannot copy the bytes in the pipe of descriptor %d "
                         "(%s): error %l",
                         probe->fd, probe->path, -result);
    }
    return 0;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    if ((!has_end(save, probe, is_read_end) ||
         !has_end(save, probe, is_write_end)) &&
        !is_broken(probe)) {
        return ckpt_file_refuse(
            probe, "a pipe whose other end is not in this process", failure);
    }
    file->value = probe->status.st_ino;
    file->detail = (uint32_t)ckpt_sys_fcntl(probe->fd, F_GETPIPE_SZ, 0);
    if (!is_read_end(probe->status_flags)) {
        return 0;
    }
    for (size_t i = 0; i < save->count; i++) {
        if (save->files[i].kind == CKPT_FILE_PIPE &&
            save->files[i].value == file->value &&
            is_read_end((int)save->files[i].status_flags)) {
            return 0; /* that one has the bytes */
        }
    }
    return save_bytes(probe, file, failure);
}

/* Puts the saved bytes, which one of the pipe's descriptors has, into it. */
static int fill(const struct ckpt_file_restore *restore, uint64_t value,
                int write_end)
{
    for (size_t i = 0; i < restore->count; i++) {
        const struct ckpt_file *file = &restore->files[i];
        const void *bytes;

        if (file->kind != CKPT_FILE_PIPE || file->value != value ||
            file->payload_size == 0) {
            continue;
        }
        bytes = ckpt_file_saved_bytes(restore, file);
        if (bytes == NULL) {
            return -EINVAL;
        }
        if (write(write_end, bytes, file->payload_size) !=
            (ssize_t)file->payload_size) {
            return -EIO;
        }
        return 0;
    }
    return 0;
}

/* Makes the pipe with its bytes. NULL, with *error_p set, if that fails. */
static struct ckpt_file_made *make_pipe(struct ckpt_file_restore *restore,
                                        const struct ckpt_file *file,
                                        int *error_p)
{
    struct ckpt_file_made *made;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        *error_p = -errno;
        return NULL;
    }
    made = ckpt_file_add_made(restore, file, ends[0], ends[1]);
    if (made == NULL) {
        *error_p = -EMFILE;
        return NULL;
    }
    *error_p = fcntl(made->fds[1], F_SETPIPE_SZ, (int)file->detail) < 0
                   ? -errno
                   : fill(restore, file->value, made->fds[1]);
    return *error_p == 0 ? made : NULL;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    struct ckpt_file_made *made = ckpt_file_find_made(restore, file);
    int error = 0;
    int fd;

    if (made == NULL) {
        made = make_pipe(restore, file, &error);
    }
    fd = made == NULL ? error : ckpt_file_open_anew(file, made->fds[0]);
    return fd < 0 ? ckpt_file_lost(restore, file, fd, strerror(-fd), failure)
                  : fd;
}

const struct ckpt_file_ops ckpt_file_pipe = {
    .kind = CKPT_FILE_PIPE,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
};
