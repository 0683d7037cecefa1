/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halt.h - halt all threads of the lower half, then let them run on or end them.
 */
#ifndef CKPT_HALT_H
#define CKPT_HALT_H

#include "ckpt/failure.h"
#include "lower/lower.h"

/*
 * Makes each thread of the lower half wait in a handler of signal 32, which none of them blocks
 * (host_threads.c). A system call that it is in may end with EINTR, if the threads run on.
 * timeout_ms: for all threads together. Context: quiesced, upper half; no halt is under way.
 * Returns 0 when all wait; else -errno with a reason, and all run on.
 */
int ckpt_halt(const struct ckpt_lower *table, int timeout_ms, struct ckpt_failure *failure);

/* Lets the halted threads run on. Context: as above. */
void ckpt_halt_over(void);

/*
 * Ends the halted threads: each makes the system call exit, and nothing else. Context: as above.
 * Returns 0 when the kernel has none of them any more; -ETIMEDOUT with a reason if one remains.
 */
int ckpt_halt_end(int timeout_ms, struct ckpt_failure *failure);

#endif
