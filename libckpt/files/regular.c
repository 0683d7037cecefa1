/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regular.c - regular files: reopened by name, with their position restored.
 *
 * Plank (1993), section 1.2.2: read-only, write-only and sequentially written files are
 * recoverable this way. Data written since the checkpoint is truncated. A file open for reading
 * and writing may have changed anywhere, so the image has its content.
 *
 * A restore first checks all files, then opens them, and changes content last. So a failed
 * restore leaves the files unchanged.
 */
#include "files/file_kind.h"

#include "base/invariant.h"
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

/* Returns 1 for files of /proc and /sys, whose size is meaningless. */
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
    file->value = CKPT_REGULAR_HAS_MODE |
                  (probe->status.st_mode & CKPT_REGULAR_MODE) |
                  (uint64_t)probe->status.st_uid << CKPT_REGULAR_OWNER_SHIFT;
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

/* Returns 1 for a file that is only appended to. The program does not need its content, so it
 * may have been rotated or removed. The restart then creates a new one. */
static int is_log(const struct ckpt_file *file)
{
    return (file->status_flags & O_ACCMODE) == O_WRONLY &&
           (file->status_flags & O_APPEND) != 0;
}

/* Checks whether the missing name can be created again. */
static int check_missing(const struct ckpt_file_restore *restore,
                         const struct ckpt_file *file,
                         struct ckpt_failure *failure)
{
    int error;

    if (!is_log(file) && !ckpt_file_has_content(restore, file)) {
        return ckpt_file_lost(restore, file, -ENOENT,
                              "No such file or directory, and its content is not "
                              "in the checkpoint",
                              failure);
    }
    error = ckpt_file_check_place(restore->saved.strings + file->path);
    return error == 0 ? 0
                      : ckpt_file_lost(restore, file, error, strerror(-error),
                                       failure);
}

/* Checks whether the program's descriptor can be reopened. Returns 0 or -errno. */
static int check_access(const char *path, uint32_t status_flags)
{
    static const int access_of[] = {[O_RDONLY] = R_OK,
                                    [O_WRONLY] = W_OK,
                                    [O_RDWR] = R_OK | W_OK,
                                    [O_ACCMODE] = F_OK};

    return faccessat(AT_FDCWD, path, access_of[status_flags & O_ACCMODE],
                     AT_EACCESS) == 0
               ? 0
               : -errno;
}

static int check(const struct ckpt_file_restore *restore,
                 const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const char *path = restore->saved.strings + file->path;
    struct stat status;
    int error;

    if (ckpt_file_is_missing(restore, file)) {
        return check_missing(restore, file, failure);
    }
    error = check_access(path, file->status_flags);
    if (error == 0 && stat(path, &status) != 0) {
        error = -errno;
    }
    if (error != 0) {
        return ckpt_file_lost(restore, file, error, strerror(-error), failure);
    }
    if (!S_ISREG(status.st_mode)) {
        return ckpt_file_lost(restore, file, -ESTALE,
                              "it is of another type now", failure);
    }
    if ((uint64_t)status.st_size < file->size && !is_log(file) &&
        !ckpt_file_has_content(restore, file)) {
        return ckpt_file_lost(restore, file, -ESTALE,
                              "it is shorter than at the checkpoint", failure);
    }
    return 0;
}

static int prepare(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int error;

    if (!ckpt_file_is_missing(restore, file)) {
        return 0;
    }
    error = ckpt_file_make_again(restore, file);
    if (error != 0) {
        return ckpt_file_lost(restore, file, error, strerror(-error), failure);
    }
    if (!ckpt_file_has_content(restore, file)) {
        fprintf(stderr, "ckpt-restart: %s is not there; it is begun again\n",
                restore->saved.strings + file->path);
    }
    return 0;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int fd = ckpt_file_reopen(restore, file, S_IFREG, 0, failure);
    int error = 0;

    if (fd < 0) {
        return fd;
    }
    if (lseek(fd, (off_t)file->offset, SEEK_SET) < 0) {
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

/* Writes the saved bytes through a descriptor of ours, since the program's may have O_APPEND or
 * O_DIRECT. Returns 0 or -errno. */
static int put_back(const struct ckpt_file_restore *restore,
                    const struct ckpt_file *file)
{
    const int own = open(restore->saved.strings + file->path, O_RDWR | O_CLOEXEC);
    int error = own < 0 ? -errno : ckpt_file_write_content(restore, file, own);

    if (own >= 0 && close(own) != 0 && error == 0) {
        error = -errno;
    }
    return error;
}

/* Returns 1 if an earlier descriptor has written the same bytes. */
static int is_put_back(const struct ckpt_file_restore *restore,
                       const struct ckpt_file *file)
{
    const struct ckpt_file *other = restore->saved.files;

    CKPT_INVARIANT(file >= other && file < other + restore->saved.count); /* the loop ends */
    while (other != file && (other->kind != file->kind || other->same_as >= 0 ||
                             other->payload != file->payload)) {
        other++;
    }
    return other != file;
}

/* Restores the file's size, and its content if that was saved. */
static int change(struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, struct ckpt_failure *failure)
{
    struct stat status;
    int error = 0;

    if (file->same_as >= 0 || !is_writable(file->status_flags)) {
        return 0;
    }
    if (file->payload_size != 0 && !is_put_back(restore, file)) {
        error = put_back(restore, file);
    }
    if (error == 0 && fstat(file->descriptor, &status) != 0) {
        error = -errno;
    }
    if (error == 0 && (uint64_t)status.st_size > file->size &&
        ftruncate(file->descriptor, (off_t)file->size) != 0) {
        error = -errno;
    }
    if (error == 0) {
        error = ckpt_file_give_mode(restore, file);
    }
    return error == 0 ? 0
                      : ckpt_file_lost(restore, file, error, strerror(-error),
                                       failure);
}

const struct ckpt_file_ops ckpt_file_regular = {
    .kind = CKPT_FILE_REGULAR,
    .shared = 1,
    .matches = matches,
    .save = save,
    .check = check,
    .prepare = prepare,
    .restore = restore,
    .change = change,
};
