/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_knowledge.c - what a rank knows of the checkpoints of its peers.
 */
#include "interval/peer_knowledge.h"

#include "interval/vector_time.h"

#include <errno.h>

size_t ckpt_peer_knowledge_words(uint32_t n)
{
    return (size_t)n * n + n;
}

int ckpt_peer_knowledge_attach(struct ckpt_peer_knowledge *knowledge,
                               uint32_t n, uint32_t self, uint64_t *memory)
{
    if (self >= n) {
        return -EINVAL;
    }
    knowledge->n = n;
    knowledge->self = self;
    knowledge->checkpoints = memory;
    knowledge->bounds = memory + (size_t)n * n;
    return 0;
}

static uint64_t *row(const struct ckpt_peer_knowledge *knowledge, uint32_t peer)
{
    return knowledge->checkpoints + (size_t)peer * knowledge->n;
}

int ckpt_peer_knowledge_learn(struct ckpt_peer_knowledge *knowledge,
                              uint32_t peer, const uint64_t *checkpoint,
                              uint64_t bound, uint64_t own_interval)
{
    if (peer >= knowledge->n) {
        return -EINVAL;
    }
    if (checkpoint[knowledge->self] > own_interval || bound > own_interval) {
        return -ERANGE;
    }
    ckpt_vector_merge(row(knowledge, peer), checkpoint, knowledge->n);
    if (knowledge->bounds[peer] < bound) {
        knowledge->bounds[peer] = bound;
    }
    return 0;
}

const uint64_t *
ckpt_peer_checkpoint(const struct ckpt_peer_knowledge *knowledge, uint32_t peer)
{
    return row(knowledge, peer);
}

void ckpt_peer_minimum(const struct ckpt_peer_knowledge *knowledge,
                       uint64_t *minimum)
{
    for (uint32_t j = 0; j < knowledge->n; j++) {
        minimum[j] = UINT64_MAX;
    }
    for (uint32_t peer = 0; peer < knowledge->n; peer++) {
        if (peer != knowledge->self) {
            ckpt_vector_meet(minimum, row(knowledge, peer), knowledge->n);
        }
    }
}
