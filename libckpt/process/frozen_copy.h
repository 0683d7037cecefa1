/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.h - a process that is a stopped copy of this one. It does not see later writes of
 * this process, so it can be read while this process continues (Plank 1993, section 3.2,
 * copy-on-write).
 *
 * The kernel shares all pages and copies a page at the first write to it. The copy releases
 * pages that have been read, so that fewer pages are copied. It is not a child of the program,
 * has only one descriptor, its end of a connection, and exits when that connection closes.
 */
#ifndef CKPT_FROZEN_COPY_H
#define CKPT_FROZEN_COPY_H

#include "ckpt/failure.h"

struct ckpt_frozen_copy {
    int pid;
    int connection; /* our end, close-on-exec, owned by the caller. Each packet is a struct
                       ckpt_range that the reader no longer needs; the copy exits when the last
                       descriptor of this end is closed */
};

/*
 * Makes a copy that process `reader` may read. Memory shared with other processes is also
 * shared with the copy. All threads except the caller must be stopped. Returns 0, or -errno
 * with the reason: -ENOTSUP if the program has memory that children do not inherit. Context:
 * quiesced.
 */
int ckpt_frozen_copy_make(struct ckpt_frozen_copy *copy, int reader,
                          struct ckpt_failure *failure);

#endif
