/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quiet.h - whether the memory of a target has undelivered direct puts
 * (independent/direct.h). While it has, it must not become part of a checkpoint.
 *
 * The words are in the window's record. Each pair of ranks has one word that only the
 * origin writes, and each target has a word that only the target writes. A killed rank
 * leaves its words unchanged.
 */
#ifndef CKPT_INDEPENDENT_QUIET_H
#define CKPT_INDEPENDENT_QUIET_H

#include "independent/log/record.h"

#pragma GCC visibility push(hidden)

/*
 * Called before the first direct put of an origin to a target. The origin holds the
 * target's memory (ckpt_record_target's owner). Returns 1 if from now on the origin may
 * put freely; the memory is then not quiet. Returns 0 if the target has asked for quiet.
 * Any context.
 */
int ckpt_quiet_break(struct ckpt_record *record, int origin, int target);

/* Called when all puts of the origin are delivered. Any context. */
void ckpt_quiet_restore(struct ckpt_record *record, int origin, int target);

/* Returns whether the origin has broken the quiet and not restored it. Any context. */
int ckpt_quiet_is_broken(struct ckpt_record *record, int origin, int target);

/* Returns whether no origin has broken it. It stays so while the caller holds the memory.
 * Any context. */
int ckpt_quiet_is_kept(struct ckpt_record *record, int target);

/* The target asks for quiet (1), or no longer (0). An origin that has not broken the quiet
 * then does not break it; an origin that has will deliver soon. Any context. */
void ckpt_quiet_ask(struct ckpt_record *record, int target, int asked);

#pragma GCC visibility pop

#endif
