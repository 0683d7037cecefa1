/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.h - a process that is a stopped copy of this one. It does not see later writes of
 * this process, so it can be read while this process continues (Plank 1993, section 3.2,
 * copy-on-write). It can also come to life in the place of this process.
 *
 * The kernel shares all pages and copies a page at the first write to it. The copy releases
 * pages that have been read, so that fewer pages are copied. It is not a child of the program,
 * has only one descriptor, its end of a connection, and exits when that connection closes.
 */
#ifndef CKPT_FROZEN_COPY_H
#define CKPT_FROZEN_COPY_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

struct ckpt_frozen_copy {
    int pid;
    int connection; /* our end, close-on-exec, owned by the caller. Each packet is a struct
                       ckpt_range that the reader no longer needs, or an order of
                       ckpt/copy_orders.h; the copy exits when the last descriptor of this end is
                       closed */
};

/* What the program does for a copy that comes to life. Context of both: quiesced, in the copy, on
 * its stack (CKPT_APART_STACK_SIZE). */
struct ckpt_frozen_copy_calls {
    /* Returns 0 if the program, as it is, can go on in the copy; else -errno with the reason. */
    int (*may_live)(struct ckpt_failure *failure);
    /* The same for a copy that is to stand before it goes on (process/copy_standby.h). */
    int (*may_stand)(struct ckpt_failure *failure);
    /* Goes on as after a restart. info: as for a restored process. agent: connection to the agent,
     * which is now the program's; -1: it comes through ckpt_copy_stand_by(). */
    void (*live)(struct ckpt_resume_info *info, int agent) __attribute__((noreturn));
};

/* Sets the calls, once, before any copy is made. calls: static. Context: any. */
void ckpt_frozen_copy_calls_set(const struct ckpt_frozen_copy_calls *calls);

/*
 * Makes a copy that process `reader` may read. Memory shared with other processes is also
 * shared with the copy. All threads except the caller must be stopped. Returns 0, or -errno
 * with the reason: -ENOTSUP if the program has memory that children do not inherit. Context:
 * quiesced.
 */
int ckpt_frozen_copy_make(struct ckpt_frozen_copy *copy, int reader,
                          struct ckpt_failure *failure);

#endif
