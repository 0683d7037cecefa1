/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.h - decide when this rank takes independent checkpoints, and take them (Sultan
 * 2004, sections 4.4.1 and 4.5; docs/windows.md, section 4).
 *
 * A checkpoint is a frozen copy of the process (process/frozen_copy.h), which its agent
 * keeps. It contains a copy of the window memory. It costs memory for the pages that are
 * written to afterwards. It costs the rank only the time to make it.
 */
#ifndef CKPT_INDEPENDENT_KEEP_H
#define CKPT_INDEPENDENT_KEEP_H

#pragma GCC visibility push(hidden)

/*
 * Called at the end of a call that synchronises: takes a checkpoint if there is a reason.
 * Reasons are: none was taken in this launch, or since the last operation that cannot be
 * replayed; much has been logged; time has passed; another rank's log is full. Takes none
 * if a checkpoint of the whole job is under way. Between begin and end, which it may leave
 * and enter again.
 *
 * A rank that is restarted from the checkpoint returns here, and is replayed.
 */
void ckpt_keep_if_due(void);

/* The same after a barrier or fence. It also takes a checkpoint if another rank has
 * invited to it, and half of the amount that is a reason has been logged. */
void ckpt_keep_if_due_with_others(void);

/* Called before this rank enters a barrier or fence: if it has reason to take a checkpoint
 * after it, invites the other ranks to do the same. Any context but a replay's past. */
void ckpt_keep_invite(void);

/* Returns 1 if the process was described last for an independent checkpoint: a copy that was made
 * then can be replayed. Context: quiesced. */
int ckpt_keep_has_described(void);

/* Called after a restart or a change of worlds: no checkpoint was taken in this launch. Context:
 * quiesced. */
void ckpt_keep_restarted(void);

#pragma GCC visibility pop

#endif
