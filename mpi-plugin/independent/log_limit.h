/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_limit.h - limit a log that grows because other ranks take no checkpoints of
 * themselves (Sultan 2004, section 4.5; docs/windows.md, section 4).
 *
 * A ring is above its limit when half of it is in use. A rank itself logs at most that much
 * between two of its checkpoints (a quarter, and as much again while it waits for a
 * barrier). The other half is for records logged until the asked ranks reach a call that
 * synchronises.
 */
#ifndef CKPT_INDEPENDENT_LOG_LIMIT_H
#define CKPT_INDEPENDENT_LOG_LIMIT_H

#include "independent/log/volatile_log.h"

#pragma GCC visibility push(hidden)

static inline int ckpt_log_is_above_limit(const struct ckpt_log_ring *ring)
{
    return ring->tail - ring->head > ring->capacity / 2;
}

/*
 * Called at the end of a call that synchronises: trims the log of writes if it is above its
 * limit. If it stays above, asks the ranks that need its oldest record for checkpoints. If
 * the log of events is above its limit, asks this rank, as it is this rank's own. Does
 * nothing in a replay. Between begin and end.
 */
void ckpt_log_limit_look(void);

#pragma GCC visibility pop

#endif
