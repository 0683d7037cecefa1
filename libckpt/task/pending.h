/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h - saves pending signals: blocked signals that have arrived.
 */
#ifndef CKPT_PENDING_H
#define CKPT_PENDING_H

#include "ckpt/failure.h"

#include <stdint.h>

/* Allocates the table, once per process. Returns 0 or -errno. Context:
 * normal. */
int ckpt_pending_open(void);

/* Returns the signals pending for the calling thread alone: bit (signal - 1).
 * Context: any. */
uint64_t ckpt_pending_own(void);

/* Forgets the recorded signals, since a freeze begins. Context: leader. */
void ckpt_pending_reset(void);

/* Records the signals pending for the calling thread, which blocks all signals;
 * they remain pending. Context: quiesced, in a thread that is about to park. */
void ckpt_pending_note_thread(void);

/* Does the same for the leader and for the process. Returns 0 or -errno with
 * the reason. Context: leader, quiesced. */
int ckpt_pending_save(struct ckpt_failure *failure);

/* After a restart: sends the signals again, with their data. Call it after
 * ckpt_threads_recreate(). Returns 0 or -errno with the reason. Context:
 * quiesced, with all signals blocked. */
int ckpt_pending_restore(struct ckpt_failure *failure);

#endif
