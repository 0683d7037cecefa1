/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.h - a process that is a copy of this one and does not move: what is
 * written here is not seen there, so it can be read while this one goes on (Plank
 * 1993, section 3.2, copy-on-write).
 *
 * The kernel shares all pages and copies one when it is written to. The copy gives
 * pages back that have been read, so that fewer have to be copied. It is nobody's
 * child, has no descriptor but one end of a connection, and ends with that.
 */
#ifndef CKPT_FROZEN_COPY_H
#define CKPT_FROZEN_COPY_H

#include "ckpt/failure.h"

struct ckpt_frozen_copy {
    int pid;
    int connection; /* our end, close-on-exec: packets of one struct ckpt_range, which
                       is not to be read any more; the last one to close it ends the
                       copy. The caller's. */
};

/*
 * Makes a copy that process `reader` may read. Memory that others store into is
 * shared with the copy, as it is with them. All threads but this one stand still.
 * Returns 0, or -errno with the reason: -ENOTSUP for memory that the program wants
 * not to be inherited. Context: quiesced.
 */
int ckpt_frozen_copy_make(struct ckpt_frozen_copy *copy, int reader,
                          struct ckpt_failure *failure);

#endif
