/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change.h - moments at which the lower half's tables and the kernel differ.
 *
 * A descriptor that has just been opened is not yet at its place; a thread
 * that has just started is not yet listed. Such moments lie between
 * ckpt_change_begin() and ckpt_change_end(), which no signal interrupts; a
 * checkpoint waits for their end before it believes the tables.
 */
#ifndef CKPT_CHANGE_H
#define CKPT_CHANGE_H

#include <stdint.h>

/* Blocks all signals of this thread. Nothing until the end may wait for more
 * than the kernel's own work. Sections nest. mask: storage for the end.
 * Context: normal (lower half). errno stays. */
void ckpt_change_begin(uint64_t *mask);
void ckpt_change_end(const uint64_t *mask);

/*
 * Waits until no change is under way. Gives up after a second: then a thread
 * is held up inside one, and the tables must not be believed.
 * Returns 1 if all is still, else 0. Context: any; uses no TLS.
 */
int ckpt_change_wait(void);

/* A lock among the threads of the lower half, only taken within a change. */
struct ckpt_spinlock {
    uint32_t taken;
};
void ckpt_spinlock_take(struct ckpt_spinlock *lock);
void ckpt_spinlock_give(struct ckpt_spinlock *lock);

#endif
