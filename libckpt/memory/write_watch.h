/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_watch.h - reports the pages of shared memory that this process has written since the
 * last call. It uses asynchronous write protection (userfaultfd) of Linux 6.7 and later, with
 * which the kernel records writes and stops no thread.
 *
 * Writes by other processes to the same pages are not reported. A range that is mapped again is
 * no longer watched. A mapping can have one watcher at a time.
 */
#ifndef CKPT_WRITE_WATCH_H
#define CKPT_WRITE_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct ckpt_write_watch {
    int descriptor; /* close-on-exec; the caller may move it; closing it ends the watch */
    int page_map;   /* page map of this process; close-on-exec, the caller may move it */
};

/* Context of all functions: any. They return 0 or -errno. */

/* -ENOSYS, -EINVAL, -EPERM or -ENOTTY: the kernel does not support it. */
int ckpt_write_watch_open(struct ckpt_write_watch *watch);
void ckpt_write_watch_close(struct ckpt_write_watch *watch);

/* Starts to record writes to a range of whole pages; earlier writes are not reported. The
 * memory is anonymous or of a memory file system. */
int ckpt_write_watch_begin(const struct ckpt_write_watch *watch, void *start, size_t size);

/* Sets written[i] to 1 if page i of the range has been written since begin, or since the last
 * look; leaves other entries unchanged. After an error the record may be incomplete: assume
 * that all pages have been written. */
int ckpt_write_watch_look(const struct ckpt_write_watch *watch, const void *start,
                          size_t size, uint8_t *written);

#endif
