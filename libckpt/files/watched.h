/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watched.h - records the paths that a program watches with inotify, which the
 * kernel does not report.
 */
#ifndef CKPT_WATCHED_H
#define CKPT_WATCHED_H

#include <stddef.h>
#include <stdint.h>

/* One call of inotify_add_watch(); immutable. */
struct ckpt_watched {
    int fd;
    int watch;
    uint32_t flags; /* IN_ONLYDIR, IN_DONT_FOLLOW, IN_EXCL_UNLINK, IN_ONESHOT */
    char path[];    /* absolute */
};

/* Records that inotify_init() has returned `fd`. Context: normal. */
void ckpt_watched_open(int fd);

/*
 * Records that inotify_add_watch(fd, path, mask) has returned `watch`; copies
 * the absolute path. The table is bounded: it drops the oldest calls. It also
 * drops a call if the memory is exhausted.
 * Context: normal, not a signal handler.
 */
void ckpt_watched_add(int fd, int watch, uint32_t mask, const char *path);

/*
 * Returns the newest recorded call that returned `watch` through `fd` (-1: any)
 * and is older than the *after-th; NULL if none is left. *after starts as 0 and
 * is advanced. The call may concern an earlier inotify descriptor with that
 * number, or with another number: compare the file that its path leads to.
 * Context: quiesced.
 */
const struct ckpt_watched *ckpt_watched_find(int fd, int watch, size_t *after);

/* Returns the last watch number assigned through `fd`, or 0 if it is unknown.
 * Context: quiesced. */
int ckpt_watched_last(int fd);

#endif
