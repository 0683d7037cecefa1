/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * robust.h - robust mutexes that a thread holds when it ends.
 */
#ifndef CKPT_ROBUST_H
#define CKPT_ROBUST_H

/*
 * Does what the kernel does for a thread that ends: the robust mutexes that it holds are marked,
 * and one waiter of each is woken, which gets EOWNERDEAD. The kernel goes by its id of the
 * thread, but a thread that is older than a restart locks with the one that it had. Not for
 * mutexes with priority inheritance. The last thing that the thread does. Context: normal.
 */
void ckpt_robust_abandon(void);

#endif
