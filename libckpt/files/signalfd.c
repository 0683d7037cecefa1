/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signalfd.c - signalfds: recreated with the same signal set. Signals not yet
 * read are pending signals of the process (task/pending.c).
 */
#include "files/file_kind.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

static int matches(const struct ckpt_file_probe *probe)
{
    return ckpt_text_equal(probe->path, "anon_inode:[signalfd]");
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    (void)save;
    if (!ckpt_file_info_value(probe->info, "sigmask:", 1, &file->value)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MISSING_KERNEL_FEATURE, -ENOTSUP,
                           "descriptor %d (%s) cannot be saved: the kernel does "
                           "not tell its signals",
                           probe->fd, probe->path);
    }
    return 0;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const int nonblocking =
        (file->status_flags & O_NONBLOCK) != 0 ? SFD_NONBLOCK : 0;
    sigset_t set;
    int fd;

    sigemptyset(&set);
    memcpy(&set, &file->value, sizeof file->value);
    fd = signalfd(-1, &set, SFD_CLOEXEC | nonblocking);
    return fd >= 0 ? fd
                   : ckpt_file_lost(restore, file, -errno, strerror(errno),
                                    failure);
}

const struct ckpt_file_ops ckpt_file_signalfd = {
    .kind = CKPT_FILE_SIGNALFD,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
};
