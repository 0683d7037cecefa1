/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * discard.h - take a lower half out of a living process, so that another one can be loaded.
 */
#ifndef CKPT_DISCARD_H
#define CKPT_DISCARD_H

#include "ckpt/failure.h"
#include "lower/lower.h"

/*
 * Halts the lower half of `table` and finds out what belongs to it. No thread may be in the
 * lower half, or will return to it. All can still be undone: ckpt_discard_cancel().
 * Refuses if the lower half has a child process, or a thread that does not halt in time.
 * Context: quiesced, upper half. Returns 0; or -errno with a reason, and nothing has changed.
 */
int ckpt_discard_prepare(struct ckpt_lower *table, struct ckpt_failure *failure);

/* Lets the halted lower half run on. Context: as above, after ckpt_discard_prepare(). */
void ckpt_discard_cancel(void);

/*
 * Ends the threads of the lower half, removes the shared memory files that only its
 * MPI_Finalize would remove, closes its descriptors but the launcher's channel, unmaps its
 * memory and clears `table`. What points into the lower half is void afterwards.
 * Context: as above, after ckpt_discard_prepare(). Returns 0; or -errno with a reason: then the
 * lower half is gone in part, and this process can only end.
 */
int ckpt_discard(struct ckpt_lower *table, struct ckpt_failure *failure);

/* Returns 1 if the descriptor is the launcher's channel of a discarded lower half: it belongs to
 * neither half, is never saved, and stays open because some launchers end the job with it.
 * Context: any. */
int ckpt_discard_kept(int fd);

/* Forgets it: in a restarted process it does not exist. Context: quiesced. */
void ckpt_discard_restarted(void);

#endif
