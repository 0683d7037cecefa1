/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_knowledge.h - what a rank knows of the checkpoints of its peers.
 *
 * Control data of a peer is the vector time of its newest checkpoint and one
 * number: of the version of its oldest retained checkpoint, the component of
 * the rank that is told (4.5.3). It may be stale, and differ from rank to rank:
 * too small a value keeps logs and checkpoints longer, and is never wrong
 * (4.5.5). Zero, the beginning, is what is known of a peer that said nothing.
 *
 * The numbers are in memory of the caller's, so that they can be shared with
 * the node's agent and outlive the rank. One writer at a time. Context of all
 * functions: quiesced.
 */
#ifndef CKPT_PEER_KNOWLEDGE_H
#define CKPT_PEER_KNOWLEDGE_H

#include <stddef.h>
#include <stdint.h>

struct ckpt_peer_knowledge {
    uint32_t n;            /* ranks */
    uint32_t self;         /* the rank whose knowledge this is */
    uint64_t *checkpoints; /* n vectors: That, times of newest checkpoints */
    uint64_t *bounds;      /* n numbers: Vhat, see ckpt_peer_knowledge_learn */
};

/* How many 64-bit words the numbers of n ranks take. */
size_t ckpt_peer_knowledge_words(uint32_t n);

/*
 * Lays `knowledge` over `memory`, of as many words as the function above says.
 * The memory stays the caller's and must outlive `knowledge`. It is not
 * changed: new memory must be zero, used memory keeps what was learnt. 0, or
 * -EINVAL if there is no rank `self` among n.
 */
int ckpt_peer_knowledge_attach(struct ckpt_peer_knowledge *knowledge,
                               uint32_t n, uint32_t self, uint64_t *memory);

/*
 * Takes in control data of rank `peer`: `checkpoint`, the time of its newest
 * checkpoint, and `bound`, component `self` of the version of its oldest
 * retained one. A rank tells itself at each checkpoint of its own, so that its
 * row is exact. What is older than what is known changes nothing.
 *
 * own_interval: how many intervals `self` has ended. 0; -EINVAL if there is no
 * such peer; -ERANGE, and nothing is learnt, if the data speaks of intervals
 * that `self` has not ended: a rank in the middle of its replay may ignore
 * that, to any other it means that the message is wrong.
 */
int ckpt_peer_knowledge_learn(struct ckpt_peer_knowledge *knowledge,
                              uint32_t peer, const uint64_t *checkpoint,
                              uint64_t bound, uint64_t own_interval);

/* The time of the newest checkpoint known of rank `peer` < n. */
const uint64_t *
ckpt_peer_checkpoint(const struct ckpt_peer_knowledge *knowledge,
                     uint32_t peer);

/*
 * T_min of Theorems 1 and 2: what every other rank had seen at the newest
 * checkpoint known of it. Rank `self` is not among them: see
 * ckpt_starting_copy. Without others there is no limit: UINT64_MAX.
 */
void ckpt_peer_minimum(const struct ckpt_peer_knowledge *knowledge,
                       uint64_t *minimum);

#endif
