/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.c - open directories: reopened by name, with their position
 * restored.
 */
#include "files/file_kind.h"

#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int matches(const struct ckpt_file_probe *probe)
{
    return S_ISDIR(probe->status.st_mode) &&
           (probe->status_flags & O_PATH) == 0;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    struct stat named;

    (void)save;
    if (ckpt_sys_stat(probe->path, &named) != 0 ||
        named.st_ino != probe->status.st_ino ||
        named.st_dev != probe->status.st_dev) {
        return ckpt_file_refuse(probe, "a deleted directory", failure);
    }
    file->offset = (uint64_t)ckpt_sys_lseek(probe->fd, 0, SEEK_CUR);
    return 0;
}

static int check(const struct ckpt_file_restore *restore,
                 const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const char *path = restore->saved.strings + file->path;
    struct stat status;

    if (stat(path, &status) != 0) {
        const int error = -errno;

        return ckpt_file_is_made_below(restore, path)
                   ? 0
                   : ckpt_file_lost(restore, file, error, strerror(-error),
                                    failure);
    }
    return S_ISDIR(status.st_mode)
               ? 0
               : ckpt_file_lost(restore, file, -ENOTDIR,
                                "it is of another type now", failure);
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int fd = ckpt_file_reopen(restore, file, S_IFDIR, O_DIRECTORY, failure);

    if (fd >= 0 && lseek(fd, (off_t)file->offset, SEEK_SET) < 0) {
        int error = errno;

        close(fd);
        return ckpt_file_lost(restore, file, -error, strerror(error), failure);
    }
    return fd;
}

const struct ckpt_file_ops ckpt_file_directory = {
    .kind = CKPT_FILE_DIRECTORY,
    .shared = 1,
    .matches = matches,
    .save = save,
    .check = check,
    .restore = restore,
};
