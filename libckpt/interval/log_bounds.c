/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_bounds.c - which log entries may still be needed by a recovery.
 */
#include "interval/log_bounds.h"

bool ckpt_log_keeps_diff(uint64_t interval, uint64_t bound)
{
    return interval > bound;
}

uint64_t ckpt_log_first_notice(const struct ckpt_peer_knowledge *knowledge)
{
    uint64_t seen = UINT64_MAX;

    for (uint32_t peer = 0; peer < knowledge->n; peer++) {
        uint64_t own = ckpt_peer_checkpoint(knowledge, peer)[knowledge->self];

        if (peer != knowledge->self && own < seen) {
            seen = own;
        }
    }
    return seen == UINT64_MAX ? seen : seen + 1;
}

/* May rank `peer` have to replay what gave it time `after`? */
static bool may_replay(const struct ckpt_peer_knowledge *knowledge,
                       uint32_t peer, const uint64_t *after)
{
    return after[peer] > ckpt_peer_checkpoint(knowledge, peer)[peer];
}

bool ckpt_log_keeps_grant(const struct ckpt_peer_knowledge *knowledge,
                          uint32_t acquirer, const uint64_t *granted)
{
    return may_replay(knowledge, acquirer, granted);
}

bool ckpt_log_keeps_acquire(const struct ckpt_peer_knowledge *knowledge,
                            const uint64_t *acquired)
{
    return may_replay(knowledge, knowledge->self, acquired);
}

bool ckpt_log_keeps_barrier(const struct ckpt_peer_knowledge *knowledge,
                            const uint64_t *merged)
{
    for (uint32_t peer = 0; peer < knowledge->n; peer++) {
        if (may_replay(knowledge, peer, merged)) {
            return true;
        }
    }
    return false;
}
