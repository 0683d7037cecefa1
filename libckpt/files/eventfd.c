/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eventfd.c - event counters: recreated with the same count.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int matches(const struct ckpt_file_probe *probe)
{
    return ckpt_text_equal(probe->path, "anon_inode:[eventfd]");
}

static void add(int fd, uint64_t value)
{
    ckpt_sys_write(fd, &value, sizeof value);
}

static uint64_t take(int fd)
{
    uint64_t value = 0;

    ckpt_sys_read(fd, &value, sizeof value);
    return value;
}

/*
 * Finds out whether a read takes 1 or the whole count: fdinfo tells this only from Linux 6.5
 * on. Adds two, tries one read, and then restores the count. Never blocks: the count is at
 * least 2 at the read, and small enough for the additions.
 */
static int takes_one(int fd, uint64_t count)
{
    uint64_t taken;

    add(fd, 2);
    taken = take(fd);
    if (taken == count + 2) {
        add(fd, count);
        return 0;
    }
    take(fd);
    return 1;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    const uint64_t largest = UINT64_MAX - 1;
    uint64_t semaphore;

    (void)save;
    if (!ckpt_file_info_value(probe->info, "eventfd-count:", 1, &file->value)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MISSING_KERNEL_FEATURE, -ENOTSUP,
                           "descriptor %d (%s) cannot be saved: the kernel does "
                           "not tell its count",
                           probe->fd, probe->path);
    }
    if (!ckpt_file_info_value(probe->info, "eventfd-semaphore:", 0, &semaphore)) {
        if (file->value > largest - 2) {
            return ckpt_file_refuse(probe, "full", failure);
        }
        semaphore = (uint64_t)takes_one(probe->fd, file->value);
    }
    file->detail = semaphore != 0 ? EFD_SEMAPHORE : 0;
    /* Identifies the eventfd, to detect another rank that also has it. */
    if (!ckpt_file_info_value(probe->info, "eventfd-id:", 0, &file->inode)) {
        file->inode = 0;
    }
    return 0;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int fd = eventfd(0, (int)file->detail | EFD_CLOEXEC |
                            ((file->status_flags & O_NONBLOCK) != 0
                                 ? EFD_NONBLOCK
                                 : 0));
    int error = errno;

    if (fd < 0) {
        return ckpt_file_lost(restore, file, -error, strerror(error), failure);
    }
    if (file->value != 0 && eventfd_write(fd, file->value) != 0) {
        error = errno;
        close(fd);
        return ckpt_file_lost(restore, file, -error, strerror(error), failure);
    }
    return fd;
}

const struct ckpt_file_ops ckpt_file_eventfd = {
    .kind = CKPT_FILE_EVENTFD,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
};
