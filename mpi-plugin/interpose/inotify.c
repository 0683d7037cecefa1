/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inotify.c - note the paths that a program watches.
 *
 * A checkpoint reads the list of watches from the kernel, which does not list
 * their paths. If a path was noted wrongly, because the file was renamed
 * meanwhile, the checkpoint finds that out. Each call goes on to libc.
 *
 * Context of all functions: normal.
 */
#include "config.h"

#include "files/watched.h"
#include "interpose/next.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

static int note_open(int fd)
{
    if (fd >= 0) {
        ckpt_watched_open(fd);
    }
    return fd;
}

CKPT_INTERPOSE int inotify_init(void)
{
    return note_open(CKPT_NEXT(inotify_init)());
}

CKPT_INTERPOSE int inotify_init1(int flags)
{
    return note_open(CKPT_NEXT(inotify_init1)(flags));
}

/* Finds the absolute path without symbolic links; keeps the last name of a link
 * that is itself watched. Returns 1, or 0 if there is no such path. */
static int find_path(const char *path, uint32_t mask, char found[PATH_MAX])
{
    const char *name = strrchr(path, '/');
    char directory[PATH_MAX], parent[PATH_MAX];
    struct stat status;

    if ((mask & IN_DONT_FOLLOW) == 0 || lstat(path, &status) != 0 ||
        !S_ISLNK(status.st_mode)) {
        return realpath(path, found) != NULL;
    }
    name = name == NULL ? path : name + 1;
    if (name == path) {
        strcpy(parent, ".");
    } else {
        snprintf(parent, sizeof parent, "%.*s", (int)(name - path), path);
    }
    return realpath(parent, directory) != NULL &&
           (size_t)snprintf(found, PATH_MAX, "%s/%s", directory, name) <
               PATH_MAX;
}

CKPT_INTERPOSE int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    const int watch = CKPT_NEXT(inotify_add_watch)(fd, path, mask);
    const int error = errno;
    char found[PATH_MAX];

    if (watch >= 0) {
        ckpt_watched_add(fd, watch, mask,
                         find_path(path, mask, found) ? found : "");
    }
    errno = error;
    return watch;
}
