/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quiet.h - whether the memory of a target has puts that are not delivered
 * (independent/direct.h), as the record of the window tells: while it has, it is not to
 * become part of a checkpoint.
 *
 * Of each pair of ranks one word is written by the origin alone, of each target one by the
 * target alone. A rank that is killed leaves its words as they are.
 */
#ifndef CKPT_INDEPENDENT_QUIET_H
#define CKPT_INDEPENDENT_QUIET_H

#include "independent/record.h"

#pragma GCC visibility push(hidden)

/*
 * Before the first such put of an origin to a target, whose memory the origin has in hand
 * (ckpt_record_target's owner). 1: from now on it may put as it likes, and the memory is
 * not quiet. 0: the target has asked it not to. Any context.
 */
int ckpt_quiet_break(struct ckpt_record *record, int origin, int target);

/* All that the origin has put is delivered. Any context. */
void ckpt_quiet_restore(struct ckpt_record *record, int origin, int target);

/* Whether the origin has broken it, and not restored it. Any context. */
int ckpt_quiet_is_broken(struct ckpt_record *record, int origin, int target);

/* Whether nobody has. It stays so for as long as the caller has the memory in hand. Any
 * context. */
int ckpt_quiet_is_kept(struct ckpt_record *record, int target);

/* The target asks for quiet, or no longer: who has not broken it yet does not do so now,
 * whoever has will deliver before long. Any context. */
void ckpt_quiet_ask(struct ckpt_record *record, int target, int asked);

#pragma GCC visibility pop

#endif
