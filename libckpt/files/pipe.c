/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipe.c - pipes, named and unnamed: recreated with their bytes. Other ranks of the node
 * may have the other ends (launcher/image/memory/connections.hpp).
 */
#include "files/file_kind.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int matches(const struct ckpt_file_probe *probe)
{
    return S_ISFIFO(probe->status.st_mode) &&
           (probe->status_flags & O_PATH) == 0;
}

static int is_same(const struct ckpt_file *a, const struct ckpt_file *b)
{
    return a->kind == CKPT_FILE_PIPE && b->kind == CKPT_FILE_PIPE &&
           a->device == b->device && a->inode == b->inode;
}

static int is_read_end(int status_flags)
{
    return (status_flags & O_ACCMODE) != O_WRONLY;
}

static int is_write_end(int status_flags)
{
    return (status_flags & O_ACCMODE) != O_RDONLY;
}

/* Returns 1 if a descriptor of this process is the wanted end of the pipe. */
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

/* Copies the bytes in the pipe without consuming them: tee() into a second pipe. Returns the
 * number of bytes, at most `size`, or -errno. */
static long copy_bytes(int fd, int capacity, char *bytes, size_t size)
{
    size_t done = 0;
    long result, there;
    int ends[2];

    result = ckpt_sys_pipe2(ends, O_CLOEXEC);
    if (result < 0) {
        return result;
    }
    ckpt_sys_fcntl(ends[1], F_SETPIPE_SZ, capacity);
    there = ckpt_syscall4(SYS_tee, fd, ends[1], size, SPLICE_F_NONBLOCK);
    CKPT_INVARIANT(there <= (long)size);
    result = there < 0 ? there : 1;
    while ((long)done < there && (result > 0 || result == -EINTR)) {
        result = ckpt_sys_read(ends[0], bytes + done, (size_t)there - done);
        done += result > 0 ? (size_t)result : 0;
    }
    ckpt_sys_close(ends[0]);
    ckpt_sys_close(ends[1]);
    if (result < 0) {
        return result == -EAGAIN ? 0 : result;
    }
    return (long)done == there ? there : -EIO;
}

int ckpt_pipe_save_bytes(const struct ckpt_file_probe *probe,
                         struct ckpt_file *file, struct ckpt_failure *failure)
{
    const int capacity = (int)ckpt_sys_fcntl(probe->fd, F_GETPIPE_SZ, 0);
    int size = 0;
    char *bytes;
    long result;

    result = ckpt_sys_ioctl(probe->fd, FIONREAD, &size);
    if (result == 0 && size == 0) {
        return 0;
    }
    if (result == 0 && (file->status_flags & O_DIRECT) != 0) {
        return ckpt_file_refuse(probe, "a pipe that contains packets", failure);
    }
    if (result == 0) {
        bytes = (char *)ckpt_file_payload(file, (size_t)size);
        result = bytes == NULL ? -ENOMEM
                               : copy_bytes(probe->fd, capacity, bytes,
                                            (size_t)size);
        /* Fewer bytes mean that another rank reads from the pipe. Then this rank describes
         * itself once more later. */
        file->payload_size = result > 0 ? (uint64_t)result : 0;
    }
    if (result < 0) {
        return ckpt_fail(failure, (int)result,
                         "cannot copy the bytes in the pipe of descriptor %d "
                         "(%s): error %l",
                         probe->fd, probe->path, -result);
    }
    return 0;
}

/* Returns 1 if no process has the other end of the pipe. Only asks the kernel if this process
 * lacks an end. */
static int is_alone(const struct ckpt_file_save *save,
                    const struct ckpt_file_probe *probe)
{
    struct pollfd file = {probe->fd, 0, 0};
    const struct timespec now = {0, 0};

    if (has_end(save, probe, is_read_end) &&
        has_end(save, probe, is_write_end)) {
        return 0;
    }
    return ckpt_syscall6(SYS_ppoll, (long)&file, 1, (long)&now, 0, 0, 0) == 1 &&
           (file.revents & (POLLHUP | POLLERR)) != 0;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    file->value = probe->status.st_mode & CKPT_PIPE_MODE;
    file->value |= is_alone(save, probe) ? CKPT_PIPE_ALONE : 0;
    file->detail = (uint32_t)ckpt_sys_fcntl(probe->fd, F_GETPIPE_SZ, 0);
    if (!is_read_end(probe->status_flags)) {
        return 0;
    }
    for (size_t i = 0; i < save->count; i++) {
        if (is_same(&save->files[i], file) &&
            is_read_end((int)save->files[i].status_flags)) {
            return 0; /* that descriptor has the bytes */
        }
    }
    return ckpt_pipe_save_bytes(probe, file, failure);
}

static int has_name(const char *path)
{
    return path[0] == '/' && !ckpt_text_ends(path, CKPT_TEXT_DELETED);
}

static int open_named(const char *path, mode_t mode)
{
    struct stat status;
    int fd;

    if (mkfifo(path, mode) == 0) {
        (void)chmod(path, mode); /* independent of the umask */
    } else if (errno != EEXIST) {
        return -errno;
    }
    fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode)) {
        close(fd);
        return -ESTALE;
    }
    return fd;
}

int ckpt_files_make_pipe(const char *path, uint64_t value)
{
    char name[64];
    int ends[2];
    int fd;

    if (has_name(path)) {
        return open_named(path, (mode_t)(value & CKPT_PIPE_MODE));
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -errno;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
    fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    fd = fd < 0 ? -errno : fd;
    close(ends[0]);
    close(ends[1]);
    return fd;
}

int ckpt_pipe_fill(const struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, int fd)
{
    const void *bytes;

    if (fcntl(fd, F_SETPIPE_SZ, (int)file->detail) < 0) {
        return -errno;
    }
    if (file->payload_size == 0) {
        return 0;
    }
    bytes = ckpt_file_saved_bytes(restore, file);
    if (bytes == NULL) {
        return -EINVAL;
    }
    return write(fd, bytes, file->payload_size) == (ssize_t)file->payload_size
               ? 0
               : -EIO;
}

/* Writes the saved bytes, which are the payload of one of the pipe's descriptors. Returns 0 or
 * -errno. */
static int fill(const struct ckpt_file_restore *restore,
                const struct ckpt_file *of, int fd)
{
    const struct ckpt_file *filled = of;

    for (size_t i = 0; i < restore->saved.count; i++) {
        const struct ckpt_file *file = &restore->saved.files[i];

        if (is_same(file, of) && file->payload_size != 0) {
            filled = file;
        }
    }
    return ckpt_pipe_fill(restore, filled, fd);
}

/* Returns the pipe: the given one, or a new one with its bytes. NULL with *error_p set if that
 * fails. */
static struct ckpt_file_made *make_pipe(struct ckpt_file_restore *restore,
                                        const struct ckpt_file *file,
                                        int *error_p)
{
    const char *path = restore->saved.strings + file->path;
    const int is_given = file->sharers > 1;
    struct ckpt_file_made *made;
    int fd = is_given ? dup(ckpt_file_given(restore, file->inode, path))
                      : ckpt_files_make_pipe(path, file->value);

    if (fd < 0) {
        *error_p = is_given ? -EBADF : fd;
        return NULL;
    }
    made = ckpt_file_add_made(restore, file, fd, -1);
    if (made == NULL) {
        *error_p = -EMFILE;
        return NULL;
    }
    if (is_given) { /* the pipe already has its bytes */
        (void)fcntl(made->fds[0], F_SETPIPE_SZ, (int)file->detail);
    } else {
        *error_p = fill(restore, file, made->fds[0]);
    }
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
