/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watched.c - a table of inotify_add_watch() calls.
 *
 * Watches that end without a call (for a deleted file) need no handling: the
 * kernel reports the present watches, and each list is bounded. A save may stop
 * a thread anywhere in this code; each change that it sees is published by a
 * single store.
 */
#include "files/watched.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

/* Rings of calls, indexed by watch number, which the kernel counts up. */
#define LISTS         ((size_t)4096)
#define LIST_SIZE     ((size_t)16)
#define LAST_CAPACITY 1024 /* number of descriptors whose last watch is \
                              recorded */

struct list {
    struct ckpt_watched *calls[LIST_SIZE];
    size_t added;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list lists[LISTS];
static int last_watch[LAST_CAPACITY];

static struct list *list_of(int watch)
{
    return &lists[(size_t)watch % LISTS];
}

void ckpt_watched_open(int fd)
{
    if (fd < LAST_CAPACITY) {
        __atomic_store_n(&last_watch[fd], 0, __ATOMIC_RELAXED);
    }
}

int ckpt_watched_last(int fd)
{
    return fd < LAST_CAPACITY
               ? __atomic_load_n(&last_watch[fd], __ATOMIC_RELAXED)
               : 0;
}

/* Returns the entry of the call for this watch, or the next entry to use. */
static struct ckpt_watched **find_place(struct list *list, int fd, int watch)
{
    for (size_t i = 0; i < LIST_SIZE; i++) {
        const struct ckpt_watched *call = list->calls[i];

        if (call != NULL && call->fd == fd && call->watch == watch) {
            return &list->calls[i];
        }
    }
    return &list->calls[list->added % LIST_SIZE];
}

/* Replaces an older call. Returns that call, for the caller to free, or
 * NULL. */
static struct ckpt_watched *put(struct ckpt_watched *call, uint32_t mask)
{
    struct list *list = list_of(call->watch);
    struct ckpt_watched **place = find_place(list, call->fd, call->watch);
    struct ckpt_watched *old = *place;

    if (old != NULL && old->fd == call->fd && old->watch == call->watch) {
        call->flags |= (mask & IN_MASK_ADD) != 0 ? old->flags : 0;
    } else {
        list->added++;
    }
    __atomic_store_n(place, call, __ATOMIC_RELEASE);
    return old;
}

void ckpt_watched_add(int fd, int watch, uint32_t mask, const char *path)
{
    const uint32_t kept =
        IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK | IN_ONESHOT;
    const size_t size = strlen(path) + 1;
    struct ckpt_watched *call =
        (struct ckpt_watched *)malloc(sizeof *call + size);

    if (call != NULL) {
        call->fd = fd;
        call->watch = watch;
        call->flags = mask & kept;
        memcpy(call->path, path, size);
    }
    pthread_mutex_lock(&lock);
    if (fd < LAST_CAPACITY && watch > last_watch[fd]) {
        __atomic_store_n(&last_watch[fd], watch, __ATOMIC_RELAXED);
    }
    if (call != NULL) {
        call = put(call, mask);
    }
    pthread_mutex_unlock(&lock);
    free(call);
}

const struct ckpt_watched *ckpt_watched_find(int fd, int watch, size_t *after)
{
    const struct list *list = list_of(watch);

    while (*after < LIST_SIZE) {
        const size_t place = (list->added + LIST_SIZE - ++*after) % LIST_SIZE;
        const struct ckpt_watched *call = list->calls[place];

        if (call != NULL && call->watch == watch &&
            (fd < 0 || call->fd == fd)) {
            return call;
        }
    }
    return NULL;
}
