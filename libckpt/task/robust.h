/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * robust.h - releases the robust mutexes that a thread holds when it ends.
 */
#ifndef CKPT_ROBUST_H
#define CKPT_ROBUST_H

/*
 * Does the kernel's work for a thread that ends: marks the robust mutexes that it holds, and
 * wakes one waiter of each, which gets EOWNERDEAD. The kernel would use its own id of the
 * thread, but a thread from before a restart locks with its old id. Does not handle mutexes
 * with priority inheritance. Call it last in the thread. Context: normal.
 */
void ckpt_robust_abandon(void);

#endif
