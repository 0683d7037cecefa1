/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_watch.h - which pages this process has written to since it last asked, in memory
 * that it shares with others: by asynchronous write protection (userfaultfd) of Linux 6.7
 * and later, with which the kernel notes writes and stops nobody.
 *
 * What other processes write to the same pages is not noted. A range that is mapped anew is
 * watched no more. One watcher of a mapping at a time.
 */
#ifndef CKPT_WRITE_WATCH_H
#define CKPT_WRITE_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct ckpt_write_watch {
    int descriptor; /* close-on-exec, the caller's to move; watching ends with it */
    int page_map;   /* the same; of this process */
};

/* Context of all: any. They return 0 or -errno. */

/* -ENOSYS, -EINVAL, -EPERM or -ENOTTY: the kernel cannot do it. */
int ckpt_write_watch_open(struct ckpt_write_watch *watch);
void ckpt_write_watch_close(struct ckpt_write_watch *watch);

/* From now on writes to a range of whole pages are noted, those of before are not. The
 * memory is anonymous or of a memory file system. */
int ckpt_write_watch_begin(const struct ckpt_write_watch *watch, void *start, size_t size);

/* Sets written[i] to 1 where page i of the range has been written to since it began, or
 * since the last look; others stay as they are. If it fails, something may be forgotten:
 * all pages may have been written to. */
int ckpt_write_watch_look(const struct ckpt_write_watch *watch, const void *start,
                          size_t size, uint8_t *written);

#endif
