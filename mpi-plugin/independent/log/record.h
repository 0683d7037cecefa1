/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - state that the members of a window share: which operations are in whose
 * memory, which rank holds which lock, and each rank's progress in epochs.
 *
 * It is a memory file of the node. Each word has one writer, unless noted otherwise, and
 * writing it again has no effect: a rank that is replayed up to its death may repeat its
 * last step.
 */
#ifndef CKPT_INDEPENDENT_RECORD_H
#define CKPT_INDEPENDENT_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* State of one rank's memory. */
struct ckpt_record_target {
    /* The rank that may change the memory and its state below, together: rank + 1; 0:
     * none. Taken by compare-and-swap. */
    volatile uint32_t owner;
    uint32_t asks;   /* the rank asks for quiet (independent/log/quiet.h); it writes this */
    uint64_t fences; /* fences that the rank has reached; it writes this */
    uint64_t order;  /* number of the newest delivery; the owner writes this */
    uint64_t spare[5];
};

/* State of a pair: an origin and a target. */
struct ckpt_record_pair {
    uint64_t applied;   /* V: newest interval of the origin that is in the piece */
    uint64_t kept;      /* V in the newest checkpoint of the target's own piece */
    uint64_t posted;    /* times the target has posted to the origin; it writes this */
    uint64_t completed; /* epochs with the target that the origin has completed */
    uint32_t held;      /* the origin's lock of the target: enum ckpt_lock */
    uint32_t direct;    /* the piece has undelivered direct puts of the origin */
};

struct ckpt_record {
    uint32_t count; /* ranks of the window */
    uint32_t reserved[15];
    /* struct ckpt_record_target[count], struct ckpt_record_pair[count * count] */
};

static_assert(sizeof(struct ckpt_record_target) == 64 && sizeof(struct ckpt_record) == 64,
              "a rank's words are in one cache line");
static_assert(sizeof(struct ckpt_record_pair) == 40, "layout of a record's pair");

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
