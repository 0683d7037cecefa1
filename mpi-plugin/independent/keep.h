/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.h - independent checkpoints of this rank: when it takes them, and how
 * (Sultan 2004, sections 4.4.1 and 4.5; docs/windows.md, section 4).
 *
 * A checkpoint is a frozen copy of the process (task/frozen_copy.h), which its agent
 * keeps, with a copy of the window memory in it. It costs the pages that are written to
 * afterwards, and the rank nothing but the time to make it.
 */
#ifndef CKPT_INDEPENDENT_KEEP_H
#define CKPT_INDEPENDENT_KEEP_H

#pragma GCC visibility push(hidden)

/*
 * At the end of a call that synchronises: takes a checkpoint if there is a reason to: none
 * has been taken in this launch, or not since what cannot be replayed; much has been
 * logged; time has passed; another rank's log is full. Not if one of the whole job is
 * under way. Between begin and end, which it may leave and enter.
 *
 * A rank that is restarted from it comes back here, and is replayed.
 */
void ckpt_keep_if_due(void);

/* The same behind a barrier or fence; also if another rank has invited to it, and half as
 * much has been logged as would be reason enough. */
void ckpt_keep_if_due_with_others(void);

/* Before a barrier or fence, which this rank has not come to yet: if it has reason to take a
 * checkpoint behind it, others are to do so as well. Any context but a replay's past. */
void ckpt_keep_invite(void);

/* A restart: there is none in this launch. */
void ckpt_keep_restarted(void);

#pragma GCC visibility pop

#endif
