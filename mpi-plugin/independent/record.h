/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - what the members of a window share about it: whose operations are in whose
 * memory, who holds which lock, how far each has come in epochs.
 *
 * A memory file of the node, in which each word has one writer, if not said otherwise,
 * and is written in a way that can be repeated: a rank that is replayed up to the moment
 * of its death may do its last step again.
 */
#ifndef CKPT_INDEPENDENT_RECORD_H
#define CKPT_INDEPENDENT_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* Of a rank's memory. */
struct ckpt_record_target {
    /* Who may change the memory and what belongs to it below, together: rank + 1; 0:
     * nobody. Taken by compare-and-swap. */
    volatile uint32_t owner;
    uint32_t asks; /* the rank, for quiet (independent/quiet.h); written by it */
    uint64_t fences; /* that the rank has come to; written by it */
    uint64_t order;  /* of the newest delivery; written by the owner */
    uint64_t spare[5];
};

/* Of a pair: an origin and a target. */
struct ckpt_record_pair {
    uint64_t applied; /* V: the newest interval of the origin that is in the piece */
    uint64_t kept;    /* the same of the target's own piece, in its newest checkpoint */
    uint64_t posted;    /* times the target has posted to the origin; written by it */
    uint64_t completed; /* epochs with it that the origin has completed */
    uint32_t held;      /* the origin's lock of it: enum ckpt_lock */
    uint32_t direct;    /* the piece has puts of the origin that it has not delivered */
};

struct ckpt_record {
    uint32_t count; /* ranks of the window */
    uint32_t reserved[15];
    /* struct ckpt_record_target[count], struct ckpt_record_pair[count * count] */
};

static inline size_t ckpt_record_size(int count)
{
    const size_t n = (size_t)count;

    return sizeof(struct ckpt_record) + n * sizeof(struct ckpt_record_target) +
           n * n * sizeof(struct ckpt_record_pair);
}

static inline struct ckpt_record_target *ckpt_record_target(struct ckpt_record *record,
                                                            int target)
{
    return (struct ckpt_record_target *)(record + 1) + target;
}

static inline struct ckpt_record_pair *ckpt_record_pair(struct ckpt_record *record,
                                                        int origin, int target)
{
    struct ckpt_record_target *targets = (struct ckpt_record_target *)(record + 1);
    struct ckpt_record_pair *pairs = (struct ckpt_record_pair *)(targets + record->count);

    return pairs + (size_t)target * record->count + (size_t)origin;
}

#endif
