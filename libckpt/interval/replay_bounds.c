/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay_bounds.c - what belongs into a replay, and what has been had already.
 */
#include "interval/replay_bounds.h"

bool ckpt_replay_has_event(uint64_t after, uint64_t restart)
{
    return after > restart;
}

bool ckpt_replay_has_notice(uint64_t interval, uint64_t before, uint64_t after)
{
    return before < interval && interval <= after;
}

bool ckpt_replay_applies(uint64_t interval, uint64_t version, uint64_t seen)
{
    return version < interval && interval <= seen;
}

bool ckpt_batch_is_new(uint64_t interval, uint64_t version)
{
    return interval > version;
}
