/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * missing.c - regular files whose name does not exist at a restart: recreated, with the
 * directories above them, if the image has their content.
 *
 * A failed restore removes the names that it has created.
 */
#include "files/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A name that this restore has created. */
struct ckpt_file_new_name {
    struct ckpt_file_new_name *next; /* created before this one */
    int is_directory;
    char path[];
};

static const char *path_of(const struct ckpt_file_restore *restore,
                           const struct ckpt_file *file)
{
    return restore->saved.strings + file->path;
}

int ckpt_file_is_missing(const struct ckpt_file_restore *restore,
                         const struct ckpt_file *file)
{
    struct stat status;

    return stat(path_of(restore, file), &status) != 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

int ckpt_file_has_content(const struct ckpt_file_restore *restore,
                          const struct ckpt_file *file)
{
    if (file->size == 0 && (file->status_flags & O_ACCMODE) != O_RDONLY) {
        return 1;
    }
    for (size_t i = 0; i < restore->saved.count; i++) {
        const struct ckpt_file *other = &restore->saved.files[i];

        if (other->kind == file->kind && other->payload != 0 &&
            other->device == file->device && other->inode == file->inode) {
            return 1;
        }
    }
    return 0;
}

/* Removes the last component of a path. Returns 0 if the path was "/" already. */
static int go_up(char *path)
{
    char *end = strrchr(path, '/');

    if (end == NULL || path[1] == '\0') {
        return 0;
    }
    end[end == path] = '\0';
    return 1;
}

int ckpt_file_check_place(const char *path)
{
    char above[PATH_MAX];
    struct stat status;

    if ((size_t)snprintf(above, sizeof above, "%s", path) >= sizeof above) {
        return -ENAMETOOLONG;
    }
    while (go_up(above)) {
        if (stat(above, &status) == 0) {
            if (!S_ISDIR(status.st_mode)) {
                return -ENOTDIR;
            }
            return faccessat(AT_FDCWD, above, W_OK | X_OK, AT_EACCESS) == 0
                       ? 0
                       : -errno;
        }
        if (errno != ENOENT) {
            return -errno;
        }
    }
    return -ENOENT;
}

/* Records that the restore has created the name. Returns 0 or -ENOMEM. */
static int note_name(struct ckpt_file_restore *restore, const char *path,
                     int is_directory)
{
    const size_t size = strlen(path) + 1;
    struct ckpt_file_new_name *name = malloc(sizeof *name + size);

    if (name == NULL) {
        return -ENOMEM;
    }
    name->next = restore->new_names;
    name->is_directory = is_directory;
    memcpy(name->path, path, size);
    restore->new_names = name;
    return 0;
}

/* Creates the missing directories above `path`. Returns 0 or -errno. */
static int make_directories(struct ckpt_file_restore *restore, const char *path)
{
    char above[PATH_MAX];
    int error;

    for (const char *end = strchr(path + 1, '/'); end != NULL;
         end = strchr(end + 1, '/')) {
        snprintf(above, sizeof above, "%.*s", (int)(end - path), path);
        if (mkdir(above, 0777) == 0) {
            error = note_name(restore, above, 1);
            if (error != 0) {
                return error;
            }
        } else if (errno != EEXIST && access(above, F_OK) != 0) {
            return -errno;
        }
    }
    return 0;
}

/* Returns another name that the file had at the checkpoint and that exists now, or NULL. */
static const char *find_other_name(const struct ckpt_file_restore *restore,
                                   const struct ckpt_file *file)
{
    for (size_t i = 0; i < restore->saved.count; i++) {
        const struct ckpt_file *other = &restore->saved.files[i];

        if (other->kind == file->kind && other->device == file->device &&
            other->inode == file->inode &&
            strcmp(path_of(restore, other), path_of(restore, file)) != 0 &&
            !ckpt_file_is_missing(restore, other)) {
            return path_of(restore, other);
        }
    }
    return NULL;
}

/* Creates the name. Returns 0 or -errno; -EEXIST: another rank has created it. */
static int make_name(const char *path, const char *other_name)
{
    int fd;

    if (other_name != NULL) {
        return link(other_name, path) == 0 ? 0 : -errno;
    }
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -errno;
    }
    return close(fd) == 0 ? 0 : -errno;
}

int ckpt_file_make_again(struct ckpt_file_restore *restore,
                         const struct ckpt_file *file)
{
    const char *path = path_of(restore, file);
    int error = make_directories(restore, path);

    if (error == 0) {
        error = make_name(path, find_other_name(restore, file));
    }
    if (error == 0) {
        return note_name(restore, path, 0);
    }
    return error == -EEXIST ? 0 : error;
}

int ckpt_file_is_made_below(const struct ckpt_file_restore *restore,
                            const char *directory)
{
    const size_t length = strlen(directory);

    for (size_t i = 0; i < restore->saved.count; i++) {
        const struct ckpt_file *file = &restore->saved.files[i];
        const char *path = path_of(restore, file);

        if (file->kind == CKPT_FILE_REGULAR &&
            strncmp(path, directory, length) == 0 && path[length] == '/' &&
            ckpt_file_has_content(restore, file)) {
            return 1;
        }
    }
    return 0;
}

static int is_new(const struct ckpt_file_restore *restore, const char *path)
{
    for (const struct ckpt_file_new_name *name = restore->new_names;
         name != NULL; name = name->next) {
        if (strcmp(name->path, path) == 0) {
            return 1;
        }
    }
    return 0;
}

int ckpt_file_give_mode(const struct ckpt_file_restore *restore,
                        const struct ckpt_file *file)
{
    const char *path = path_of(restore, file);
    const uid_t owner = (uid_t)(file->value >> CKPT_REGULAR_OWNER_SHIFT);
    mode_t mask;

    if (!is_new(restore, path)) {
        return 0;
    }
    if ((file->value & CKPT_REGULAR_HAS_MODE) == 0) { /* the image has an older format */
        mask = umask(0);
        umask(mask);
        return chmod(path, 0666 & ~mask) == 0 ? 0 : -errno;
    }
    if (owner != geteuid() && chown(path, owner, (gid_t)-1) != 0) {
        fprintf(stderr, "ckpt-restart: %s now belongs to user %u, not to %u: %s\n",
                path, (unsigned)geteuid(), (unsigned)owner, strerror(errno));
    }
    return chmod(path, (mode_t)(file->value & CKPT_REGULAR_MODE)) == 0 ? 0
                                                                       : -errno;
}

void ckpt_file_forget_names(struct ckpt_file_restore *restore, int remove_them)
{
    while (restore->new_names != NULL) {
        struct ckpt_file_new_name *name = restore->new_names;

        restore->new_names = name->next;
        if (remove_them &&
            (name->is_directory ? rmdir(name->path) : unlink(name->path)) != 0) {
            fprintf(stderr, "ckpt-restart: %s cannot be removed again: %s\n",
                    name->path, strerror(errno));
        }
        free(name);
    }
}
