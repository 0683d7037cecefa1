/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memfd.c - memory files: recreated with content, name and seals.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX "/memfd:"

static int matches(const struct ckpt_file_probe *probe)
{
    return S_ISREG(probe->status.st_mode) &&
           (probe->status_flags & O_PATH) == 0 &&
           ckpt_text_starts(probe->path, PREFIX);
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    long seals = ckpt_sys_fcntl(probe->fd, F_GET_SEALS, 0);

    if (probe->status.st_blksize > 4096) {
        return ckpt_file_refuse(probe, "a memory file of huge pages", failure);
    }
    if (seals < 0) {
        return ckpt_file_refuse(probe, "a memory file of an unknown kind",
                                failure);
    }
    if (strstr(probe->info, "lock:\t") != NULL) {
        return ckpt_file_refuse(probe, "a memory file with a lock", failure);
    }
    if ((seals & F_SEAL_FUTURE_WRITE) != 0) {
        return ckpt_file_refuse(probe,
                                "a memory file that is written to only through mappings made "
                                "before it was sealed",
                                failure);
    }
    file->offset = (uint64_t)ckpt_sys_lseek(probe->fd, 0, SEEK_CUR);
    file->size = (uint64_t)probe->status.st_size;
    file->detail = (uint32_t)seals;
    return ckpt_file_save_content(save, probe, file, "a memory file", failure);
}

/* Extracts the name that the program gave to memfd_create(). */
static void name_of(const char *path, char *name, size_t size)
{
    snprintf(name, size, "%s", path + (sizeof PREFIX - 1));
    if (ckpt_text_ends(name, CKPT_TEXT_DELETED)) {
        name[strlen(name) - (sizeof CKPT_TEXT_DELETED - 1)] = '\0';
    }
}

int ckpt_file_make_memory(const char *path)
{
    char name[256];
    int fd;

    if (strncmp(path, PREFIX, sizeof PREFIX - 1) != 0) {
        return -EINVAL;
    }
    name_of(path, name, sizeof name);
    fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd < 0 ? -errno : fd;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    return ckpt_file_restore_content(restore, file, failure);
}

/* Adds the seals last, since they forbid the earlier steps. They belong to the
 * file, so another rank that shares it may already have set them. */
static int finish(struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const struct ckpt_file_made *made = ckpt_file_find_made(restore, file);
    const int seals = (int)file->detail;
    int error = 0;

    if (made != NULL && fcntl(made->fds[0], F_ADD_SEALS, seals) != 0) {
        error = -errno;
    }
    return error == 0 || fcntl(made->fds[0], F_GET_SEALS) == seals
               ? 0
               : ckpt_file_lost(restore, file, error, strerror(-error),
                                failure);
}

const struct ckpt_file_ops ckpt_file_memfd = {
    .kind = CKPT_FILE_MEMFD,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
    .finish = finish,
};
