/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regular.c - regular files: reopened by name, position restored.
 *
 * Plank (1993), section 1.2.2: read-only, write-only and sequentially written
 * files are recoverable that way. What was written since the checkpoint is cut
 * off. A file open for reading and writing may have been changed anywhere, so
 * its content goes into the image.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

static int is_writable(uint32_t status_flags)
{
    return (status_flags & O_ACCMODE) != O_RDONLY;
}

static int matches(const struct ckpt_file_probe *probe)
{
    return S_ISREG(probe->status.st_mode) &&
           (probe->status_flags & O_PATH) == 0 &&
           !ckpt_text_starts(probe->path, "/memfd:");
}

/* 1 for files of /proc and /sys: their size says nothing. */
static int is_of_kernel(int fd)
{
    struct statfs system;

    return ckpt_syscall3(SYS_fstatfs, fd, (long)&system, 0) == 0 &&
           (system.f_type == PROC_SUPER_MAGIC ||
            system.f_type == SYSFS_MAGIC);
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    struct stat named;
    long result;
    int error;

    file->offset = (uint64_t)ckpt_sys_lseek(probe->fd, 0, SEEK_CUR);
    if (is_of_kernel(probe->fd)) {
        return is_writable(file->status_flags)
                   ? ckpt_file_refuse(probe,
                                      "a file of the kernel open for writing",
                                      failure)
                   : 0;
    }
    if (ckpt_sys_stat(probe->path, &named) != 0 ||
        named.st_ino != probe->status.st_ino ||
        named.st_dev != probe->status.st_dev) {
        return ckpt_file_refuse(probe, "a file that lost this name", failure);
    }
    error = ckpt_file_save_locks(save, probe, file, failure);
    if (error != 0) {
        return error;
    }
    file->size = (uint64_t)probe->status.st_size;
    if (!is_writable(file->status_flags)) {
        return 0;
    }
    result = ckpt_syscall3(SYS_fdatasync, probe->fd, 0, 0);
    if (result < 0 && result != -EINVAL) {
        return ckpt_fail(failure, (int)result,
                         "cannot flush %s to disk: error %l", probe->path,
                         -result);
    }
    if ((file->status_flags & O_ACCMODE) == O_RDWR) {
        return ckpt_file_save_content(save, probe, file,
                                      "open for reading and writing", failure);
    }
    return 0;
}

/* A file that is only appended to holds nothing that the program needs: it may
 * have been rotated or removed, and goes on as a new one. */
static int is_log(const struct ckpt_file *file)
{
    return (file->status_flags & O_ACCMODE) == O_WRONLY &&
           (file->status_flags & O_APPEND) != 0;
}

static void begin_log(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd >= 0) {
        close(fd);
        fprintf(stderr, "ckpt-restart: %s is not there; it is begun again\n", path);
    }
}

/* Brings the file back to its size, and its content if that was saved. */
static int repair(const struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, int fd,
                  struct ckpt_failure *failure)
{
    struct stat status;
    int error = 0;

    if (file->payload_size != 0) {
        /* A descriptor of ours: the program's may be set to append or to
         * direct transfers. */
        int own =
            open(restore->saved.strings + file->path, O_WRONLY | O_CLOEXEC);

        error = own < 0 ? -errno : ckpt_file_write_content(restore, file, own);
        close(own);
    }
    if (error == 0 && fstat(fd, &status) != 0) {
        error = -errno;
    }
    if (error == 0 && (uint64_t)status.st_size < file->size && !is_log(file)) {
        return ckpt_file_lost(restore, file, -ESTALE,
                              "it is shorter than at the checkpoint", failure);
    }
    if (error == 0 && is_writable(file->status_flags) &&
        (uint64_t)status.st_size > file->size &&
        ftruncate(fd, (off_t)file->size) != 0) {
        error = -errno;
    }
    return error == 0 ? 0
                      : ckpt_file_lost(restore, file, error, strerror(-error),
                                       failure);
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int error;
    int fd;

    if (is_log(file)) {
        begin_log(restore->saved.strings + file->path);
    }
    fd = ckpt_file_reopen(restore, file, S_IFREG, 0, failure);
    if (fd < 0) {
        return fd;
    }
    error = repair(restore, file, fd, failure);
    if (error == 0 && lseek(fd, (off_t)file->offset, SEEK_SET) < 0) {
        error = ckpt_file_lost(restore, file, -errno, strerror(errno), failure);
    }
    if (error == 0 && file->detail != 0 &&
        flock(fd, (int)file->detail | LOCK_NB) != 0) {
        error = ckpt_file_lost(restore, file, -errno,
                               "another process has locked it", failure);
    }
    if (error != 0) {
        close(fd);
        return error;
    }
    return fd;
}

const struct ckpt_file_ops ckpt_file_regular = {
    .kind = CKPT_FILE_REGULAR,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
};
