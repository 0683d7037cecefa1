/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_bounds.h - which log entries may still be needed by a recovery.
 *
 * Lazy log trimming (4.5.3): an entry for which the function here says no can
 * be dropped, in memory and on disk, at any time, whether or not a checkpoint
 * is being taken. The answers depend on what is known of the peers; once no,
 * they stay no. Context of all functions: quiesced.
 */
#ifndef CKPT_LOG_BOUNDS_H
#define CKPT_LOG_BOUNDS_H

#include "interval/peer_knowledge.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Diffs of the rank's own intervals (Theorem 1(2), Theorem 2): needed if the
 * oldest copy that the home retains may be without it. bound: the rank's
 * component of that copy's version; knowledge->bounds[home] for all pages of a
 * home, or a number for each page.
 */
bool ckpt_log_keeps_diff(uint64_t interval, uint64_t bound);

/*
 * Write notices (Lemma 2): the oldest of the rank's own intervals whose notice
 * is needed, which is the first that some peer's newest checkpoint has not
 * seen. UINT64_MAX without peers.
 */
uint64_t
ckpt_log_first_notice(const struct ckpt_peer_knowledge *knowledge);

/*
 * Lemma 3, acquire-sent: the rank granted an acquire of rank `acquirer`, after
 * which that had time `granted`. Needed if the acquirer's newest checkpoint is
 * older. acquirer < n.
 */
bool ckpt_log_keeps_grant(const struct ckpt_peer_knowledge *knowledge,
                          uint32_t acquirer, const uint64_t *granted);

/*
 * Lemma 3, acquire-received, the mirror at the acquirer: after an acquire the
 * rank had time `acquired`. Needed, to give the granter its log back, as long
 * as the rank itself may replay the acquire.
 */
bool ckpt_log_keeps_acquire(const struct ckpt_peer_knowledge *knowledge,
                            const uint64_t *acquired);

/*
 * Lemma 3 for barriers: all had time `merged` after one. Each is a mirror for
 * all others; needed as long as anybody, the rank included, may replay it.
 */
bool ckpt_log_keeps_barrier(const struct ckpt_peer_knowledge *knowledge,
                            const uint64_t *merged);

#endif
