/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h - signals that have come and wait, because they are blocked.
 */
#ifndef CKPT_PENDING_H
#define CKPT_PENDING_H

#include "ckpt/failure.h"

#include <stdint.h>

/* Makes room for their descriptions, once per process. 0 or -errno. Normal. */
int ckpt_pending_open(void);

/* The signals that wait for the calling thread alone: bit (signal - 1).
 * Context: any. */
uint64_t ckpt_pending_own(void);

/* Forgets what was noted before: a freeze begins. Context: leader. */
void ckpt_pending_reset(void);

/* Notes those that wait for the calling thread, which blocks all signals; they
 * go on waiting. Context: quiesced, in a thread that is about to park. */
void ckpt_pending_note_thread(void);

/* The same for the leader, and for those that wait for the process. 0 or
 * -errno with a reason. Context: leader, quiesced. */
int ckpt_pending_save(struct ckpt_failure *failure);

/* After a restart: sends them again, with what they carried. After
 * ckpt_threads_recreate(). 0 or -errno with a reason. Context: quiesced, with
 * all signals blocked. */
int ckpt_pending_restore(struct ckpt_failure *failure);

#endif
