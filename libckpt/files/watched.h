/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watched.h - the paths by which a program has told inotify what to watch: the
 * kernel does not tell them.
 */
#ifndef CKPT_WATCHED_H
#define CKPT_WATCHED_H

#include <stddef.h>
#include <stdint.h>

/* One call of inotify_add_watch(); never changed. */
struct ckpt_watched {
    int fd;
    int watch;
    uint32_t flags; /* IN_ONLYDIR, IN_DONT_FOLLOW, IN_EXCL_UNLINK, IN_ONESHOT */
    char path[];    /* absolute */
};

/* inotify_init() has returned `fd`. Context: normal. */
void ckpt_watched_open(int fd);

/*
 * inotify_add_watch(fd, path, mask) has returned `watch`; the absolute path is
 * copied. The number of calls remembered is bounded: the oldest are forgotten,
 * and also all of which there is no memory to keep them.
 * Context: normal, not a signal handler.
 */
void ckpt_watched_add(int fd, int watch, uint32_t mask, const char *path);

/*
 * The newest remembered call that returned `watch`, by way of `fd` (-1: any),
 * that is older than the *after-th; *after begins at 0 and is moved on. NULL if
 * there is no other. It may have been about another inotify descriptor of that
 * number, or of another number: compare what it leads to. Context: quiesced.
 */
const struct ckpt_watched *ckpt_watched_find(int fd, int watch, size_t *after);

/* The last watch given by way of `fd`, or 0 if that is not known.
 * Context: quiesced. */
int ckpt_watched_last(int fd);

#endif
