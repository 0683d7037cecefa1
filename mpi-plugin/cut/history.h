/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.h - what this rank sees of the checkpoint under way, for `ckpt
 * trace`: in the rank page, from which the agent takes it with LOGGED. Bounded;
 * nothing is done, and no page of memory touched, without a checkpoint.
 */
#ifndef CKPT_HISTORY_H
#define CKPT_HISTORY_H

#include "ckpt/wire.h"

/* The cut is now. Context of both: any. */
void ckpt_history_begin(void);

/* Notes what happens now; `peer` is a rank in MPI_COMM_WORLD or -1. */
void ckpt_history_add(enum ckpt_seen_kind kind, int peer, uint64_t value);

#endif
