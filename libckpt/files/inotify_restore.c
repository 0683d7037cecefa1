/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inotify_restore.c - recreates the watches of an inotify descriptor.
 *
 * The kernel assigns rising watch numbers and never reuses one. To skip missing
 * numbers, this code watches a file of its own and removes that watch again.
 */
#include "files/inotify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNREAD_LIMIT 1024 /* events; the kernel queues up to about 16000 */

int ckpt_inotify_restore(struct ckpt_file_restore *restore,
                         const struct ckpt_file *file,
                         struct ckpt_failure *failure)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    return fd < 0 ? ckpt_file_lost(restore, file, -errno, strerror(errno),
                                   failure)
                  : fd;
}

/* Discards the events so far. The descriptor is nonblocking. */
static void drain(int fd)
{
    char buffer[4096];

    while (read(fd, buffer, sizeof buffer) > 0) {
    }
}

/* Consumes the watch numbers from *next_p to `end` - 1. Returns 0 or -errno. */
static int use_up(int fd, int *next_p, int end)
{
    char path[64];
    int own = -1;
    int error = 0;

    if (*next_p < end) {
        own = memfd_create("ckpt", MFD_CLOEXEC);
        error = own < 0 ? -errno : 0;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", own);
    while (error == 0 && *next_p < end) {
        const int watch = inotify_add_watch(fd, path, IN_DELETE_SELF);

        if (watch != (*next_p)++ || inotify_rm_watch(fd, watch) != 0) {
            error = watch < 0 ? -errno : -ERANGE;
        }
        if (*next_p % UNREAD_LIMIT == 0) {
            drain(fd);
        }
    }
    if (own >= 0) {
        close(own);
    }
    return error;
}

static int by_number(const void *a, const void *b)
{
    const struct ckpt_inotify_watch *const *x =
        (const struct ckpt_inotify_watch *const *)a;
    const struct ckpt_inotify_watch *const *y =
        (const struct ckpt_inotify_watch *const *)b;

    return (*x)->watch - (*y)->watch;
}

/* Returns the saved watches by rising number, for the caller to free; NULL if
 * they are malformed or the memory is exhausted. */
static const struct ckpt_inotify_watch **
sort_watches(const char *bytes, uint64_t size, size_t *count_p)
{
    const size_t least = sizeof(struct ckpt_inotify_watch) + 8;
    const struct ckpt_inotify_watch **watches =
        (const struct ckpt_inotify_watch **)malloc(
            (size / least + 1) * sizeof(const struct ckpt_inotify_watch *));

    *count_p = 0;
    for (uint64_t at = 0; at < size && watches != NULL;) {
        const struct ckpt_inotify_watch *watch =
            (const struct ckpt_inotify_watch *)(bytes + at);

        if (size - at < least || watch->size < least ||
            watch->size % 8 != 0 || watch->size > size - at ||
            bytes[at + watch->size - 1] != '\0') {
            free(watches);
            return NULL;
        }
        watches[(*count_p)++] = watch;
        at += watch->size;
    }
    if (watches != NULL) {
        qsort(watches, *count_p, sizeof(const struct ckpt_inotify_watch *),
              by_number);
    }
    return watches;
}

/* Watches one path under its saved number, which is *next_p or higher. */
static int watch_again(const struct ckpt_file_restore *restore,
                       const struct ckpt_file *file,
                       const struct ckpt_inotify_watch *watch, int *next_p,
                       struct ckpt_failure *failure)
{
    const char *path = (const char *)(watch + 1);
    int error = use_up(file->descriptor, next_p, watch->watch);
    int given = 0;

    if (error == 0) {
        given = inotify_add_watch(file->descriptor, path, watch->mask);
        error = given < 0 ? -errno : 0;
    }
    if (error == 0 && given != watch->watch) {
        return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, -ESTALE,
                           "descriptor %d (%s) cannot watch %s again as number "
                           "%d: it is the same file as number %d now",
                           file->descriptor, restore->saved.strings + file->path,
                           path, watch->watch, given);
    }
    if (error != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, error,
                           "descriptor %d (%s) cannot watch %s again: %s",
                           file->descriptor, restore->saved.strings + file->path,
                           path, strerror(-error));
    }
    *next_p = given + 1;
    return 0;
}

static int watch_all(const struct ckpt_file_restore *restore,
                     const struct ckpt_file *file, int *next_p,
                     struct ckpt_failure *failure)
{
    const char *bytes = (const char *)ckpt_file_saved_bytes(restore, file);
    const struct ckpt_inotify_watch **watches = NULL;
    size_t count = 0;
    int error = 0;

    if (bytes != NULL) {
        watches = sort_watches(bytes, file->payload_size, &count);
    }
    if (watches == NULL) {
        return ckpt_file_lost(restore, file, -EINVAL,
                              "the image lacks what it watches", failure);
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        error = watch_again(restore, file, watches[i], next_p, failure);
    }
    free(watches);
    return error;
}

int ckpt_inotify_finish(struct ckpt_file_restore *restore,
                        const struct ckpt_file *file,
                        struct ckpt_failure *failure)
{
    int next = 1;
    int error = 0;

    if (file->same_as >= 0) {
        return 0;
    }
    if (file->payload_size != 0) {
        error = watch_all(restore, file, &next, failure);
    }
    if (error != 0) {
        return error;
    }
    error = use_up(file->descriptor, &next, (int)file->value + 1);
    drain(file->descriptor);
    if (error == 0 &&
        fcntl(file->descriptor, F_SETFL, (int)file->status_flags) != 0) {
        error = -errno;
    }
    return error == 0 ? 0
                      : ckpt_file_lost(restore, file, error, strerror(-error),
                                       failure);
}
