/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.h - events of the present checkpoint that this rank sees, for `ckpt
 * trace`. They are in the rank page, from which the agent takes them with
 * LOGGED. Their number is limited. Without a checkpoint this code does nothing
 * and touches no page of memory.
 */
#ifndef CKPT_HISTORY_H
#define CKPT_HISTORY_H

#include "ckpt/wire.h"

/* Begins the history at the cut. Context of both: any. */
void ckpt_history_begin(void);

/* Notes an event at the present time. `peer` is a rank in MPI_COMM_WORLD or
 * -1. */
void ckpt_history_add(enum ckpt_seen_kind kind, int peer, uint64_t value);

#endif
