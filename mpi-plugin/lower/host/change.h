/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change.h - mark the moments when the lower half's tables differ from the
 * kernel's.
 *
 * A descriptor that was just opened does not have its final number yet. A
 * thread that has just started is not listed yet. Such moments are between
 * ckpt_change_begin() and ckpt_change_end(), which no signal interrupts. A
 * checkpoint waits for their end before it relies on the tables.
 */
#ifndef CKPT_CHANGE_H
#define CKPT_CHANGE_H

#include <stdint.h>

/* Blocks all signals of this thread. Code up to the end may only wait for the
 * kernel's own work. Sections nest. mask: storage for the end. Keeps errno.
 * Context: normal (lower half). */
void ckpt_change_begin(uint64_t *mask);
void ckpt_change_end(const uint64_t *mask);

/* Returns 1 if a thread is between the two. Context: any; uses no TLS. */
int ckpt_change_is_under_way(void);

/*
 * Waits until no change is under way, for a second at most. After that a thread
 * is stuck in a change, and the tables are not reliable. Returns 1 if no change
 * is under way, else 0. Context: any; uses no TLS.
 */
int ckpt_change_wait(void);

/* A lock among the threads of the lower half, taken only within a change. */
struct ckpt_spinlock {
    uint32_t taken;
};
void ckpt_spinlock_take(struct ckpt_spinlock *lock);
void ckpt_spinlock_give(struct ckpt_spinlock *lock);

#endif
