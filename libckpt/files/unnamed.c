/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unnamed.c - regular files that have been deleted or never had a name
 * (O_TMPFILE): recreated without a name, with their saved content.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prefix of the name under which NFS keeps a deleted file until it is
 * closed. */
#define NFS_DELETED "/.nfs0"

static int matches(const struct ckpt_file_probe *probe)
{
    const char *name = strrchr(probe->path, '/');

    return S_ISREG(probe->status.st_mode) &&
           (probe->status_flags & O_PATH) == 0 &&
           !ckpt_text_starts(probe->path, "/memfd:") &&
           (probe->status.st_nlink == 0 ||
            (name != NULL && ckpt_text_starts(name, NFS_DELETED)));
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    if (strstr(probe->info, "lock:\t") != NULL) {
        return ckpt_file_refuse(probe, "a deleted file with a lock", failure);
    }
    file->offset = (uint64_t)ckpt_sys_lseek(probe->fd, 0, SEEK_CUR);
    file->size = (uint64_t)probe->status.st_size;
    file->detail = probe->status.st_mode & 07777;
    return ckpt_file_save_content(save, probe, file, "a deleted file", failure);
}

/* Creates a file without a name in `directory`. Returns the descriptor or
 * -errno. */
static int make_in(const char *directory)
{
    char path[PATH_MAX];
    int fd;

    fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        return fd;
    }
    if ((size_t)snprintf(path, sizeof path, "%s/.ckpt-XXXXXX", directory) >=
        sizeof path) {
        return -ENAMETOOLONG;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    unlink(path);
    return fd;
}

/* Creates the file in its old directory, or else in the directory for temporary
 * files. */
int ckpt_file_make_deleted(const char *path)
{
    const char *temporary = getenv("TMPDIR");
    char directory[PATH_MAX];
    char *end;
    int fd;

    snprintf(directory, sizeof directory, "%s", path);
    end = strrchr(directory, '/');
    if (end == NULL) {
        return -ENOENT;
    }
    end[end == directory] = '\0';
    fd = make_in(directory);
    if (fd < 0 && temporary != NULL) {
        fd = make_in(temporary);
    }
    return fd < 0 ? make_in("/tmp") : fd;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    return ckpt_file_restore_content(restore, file, failure);
}

/* Sets the mode last: opening the file may have required more permissions. */
static int finish(struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, struct ckpt_failure *failure)
{
    if (fchmod(file->descriptor, (mode_t)file->detail & 07777) != 0) {
        return ckpt_file_lost(restore, file, -errno, strerror(errno), failure);
    }
    return 0;
}

const struct ckpt_file_ops ckpt_file_unnamed = {
    .kind = CKPT_FILE_UNNAMED,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
    .finish = finish,
};
