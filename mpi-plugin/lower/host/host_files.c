/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_files.c - files in /dev/shm that the lower half shares with other processes.
 *
 * Open MPI and UCX map such files between the ranks of a node, and remove them in MPI_Finalize.
 * A lower half that is discarded never gets there. A file is removed for it only if this process
 * has made it (O_EXCL has said so), has mapped it, and the name still leads to the same inode.
 * So neither the segment of another rank nor a file that the program writes through MPI is lost.
 */
#include "config.h"
#include "lower/host/host_files.h"

#include "base/invariant.h"
#include "base/text.h"
#include "lower/host/change.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define DIRECTORY     "/dev/shm/"
#define PATH_CAPACITY 264 /* the directory and the longest name */
#define FILES_MAX     128

static struct made {
    char path[PATH_CAPACITY];
    dev_t device;
    ino_t inode; /* 0: a free place */
    int mapped;
} made[FILES_MAX];
static struct ckpt_spinlock lock;

static int is_same(const struct made *file, const struct stat *status)
{
    return file->inode != 0 && file->device == status->st_dev && file->inode == status->st_ino;
}

static int has_name(const struct made *file)
{
    struct stat status;

    return ckpt_sys_stat(file->path, &status) == 0 && is_same(file, &status);
}

/* Records a file; if there are too many, the lower half cannot be cleaned up completely. */
static void record(const char *path, int fd)
{
    struct stat status;
    struct made *place = NULL;

    if (ckpt_sys_fstat(fd, &status) != 0 || ckpt_text_length(path) >= PATH_CAPACITY) {
        return;
    }
    ckpt_spinlock_take(&lock);
    for (int i = 0; i < FILES_MAX && place == NULL; i++) {
        if (made[i].inode == 0 || !has_name(&made[i])) {
            place = &made[i];
        }
    }
    if (place != NULL) {
        place->device = status.st_dev;
        place->inode = status.st_ino;
        place->mapped = 0;
        (void)ckpt_text_copy(place->path, sizeof(place->path), path);
        CKPT_INVARIANT(ckpt_text_starts(place->path, DIRECTORY));
    }
    ckpt_spinlock_give(&lock);
}

long ckpt_host_file_open(int directory, const char *path, int flags, mode_t mode)
{
    long fd;

    CKPT_INVARIANT(ckpt_change_is_under_way());
    if ((flags & O_CREAT) == 0 || !ckpt_text_starts(path, DIRECTORY)) {
        return ckpt_sys_openat(directory, path, flags, (int)mode);
    }
    fd = ckpt_sys_openat(directory, path, flags | O_EXCL, (int)mode);
    if (fd >= 0) {
        record(path, (int)fd);
    }
    return fd == -EEXIST && (flags & O_EXCL) == 0
               ? ckpt_sys_openat(directory, path, flags, (int)mode)
               : fd;
}

void ckpt_host_file_mapped(int fd)
{
    struct stat status;

    if (ckpt_sys_fstat(fd, &status) != 0) {
        return;
    }
    ckpt_spinlock_take(&lock);
    for (int i = 0; i < FILES_MAX; i++) {
        if (is_same(&made[i], &status)) {
            made[i].mapped = 1;
        }
    }
    ckpt_spinlock_give(&lock);
}

void ckpt_host_files_remove(void)
{
    for (int i = 0; i < FILES_MAX; i++) {
        if (made[i].mapped && has_name(&made[i])) {
            (void)ckpt_syscall3(SYS_unlink, (long)made[i].path, 0, 0);
        }
    }
}
