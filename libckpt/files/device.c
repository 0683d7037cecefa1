/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c - stateless nodes under /dev: reopened by name.
 */
#include "files/file_kind.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int matches(const struct ckpt_file_probe *probe)
{
    static const struct {
        const char *path;
        unsigned major;
        unsigned minor;
    } devices[] = {
        {"/dev/null", 1, 3},
        {"/dev/zero", 1, 5},
        {"/dev/full", 1, 7},
        {"/dev/random", 1, 8},
        {"/dev/urandom", 1, 9},
        {"/dev/tty", 5, 0},
    };
    dev_t number = probe->status.st_rdev;

    if (!S_ISCHR(probe->status.st_mode) ||
        (probe->status_flags & O_PATH) != 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        if (ckpt_text_equal(probe->path, devices[i].path) &&
            number == makedev(devices[i].major, devices[i].minor)) {
            return 1;
        }
    }
    return 0;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    (void)save;
    (void)failure;
    file->value = probe->status.st_rdev;
    return 0;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int fd = ckpt_file_reopen(restore, file, S_IFCHR, O_NOCTTY, failure);
    struct stat status;

    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_rdev != file->value) {
        close(fd);
        return ckpt_file_lost(restore, file, -ESTALE,
                              "it is another device now", failure);
    }
    return fd;
}

const struct ckpt_file_ops ckpt_file_device = {
    .kind = CKPT_FILE_DEVICE,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
};
