/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_limit.h - a log that grows because others take no checkpoints of themselves
 * (Sultan 2004, section 4.5; docs/windows.md, section 4).
 *
 * A ring is above its limit when half of it is in use. That is as much as a rank logs by
 * itself between two of its checkpoints (a quarter, and as much again while it waits for a
 * barrier), and leaves the other half for what is logged until those that are asked have
 * come to a call that synchronises.
 */
#ifndef CKPT_INDEPENDENT_LOG_LIMIT_H
#define CKPT_INDEPENDENT_LOG_LIMIT_H

#include "independent/volatile_log.h"

#pragma GCC visibility push(hidden)

static inline int ckpt_log_is_above_limit(const struct ckpt_log_ring *ring)
{
    return ring->tail - ring->head > ring->capacity / 2;
}

/*
 * At the end of a call that synchronises: trims the log of writes if it is above its limit.
 * If it stays so, the ranks that its oldest record is kept for are asked for checkpoints;
 * if it is the log of events, which is this rank's own, this rank is. Between begin and
 * end; nothing in a replay.
 */
void ckpt_log_limit_look(void);

#pragma GCC visibility pop

#endif
