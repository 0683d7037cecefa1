/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector_time.h - vector times: which interval of whom has been seen.
 *
 * A rank's execution is a sequence of intervals, each ended by a
 * synchronization. Component j of a rank's vector is the newest interval of
 * rank j that it has seen; its own component counts the intervals it has ended
 * (Sultan 2004, 4.2.1). The same vectors are versions of memory: component j
 * is the last interval of rank j whose stores are in it.
 *
 * Vectors are arrays of n counters which the caller owns. Nothing here keeps
 * an address, allocates or fails. Context of all functions: quiesced.
 */
#ifndef CKPT_VECTOR_TIME_H
#define CKPT_VECTOR_TIME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Ends the interval of rank `self` and returns its number. To be called at
 * every synchronization, also if nothing was stored: otherwise an acquire after
 * a checkpoint may carry the checkpoint's own number, and Lemma 3 drops it.
 */
uint64_t ckpt_vector_end_interval(uint64_t *time, uint32_t self);

/* into[j] = max(into[j], from[j]): what both have seen together. */
void ckpt_vector_merge(uint64_t *into, const uint64_t *from, uint32_t n);

/* into[j] = min(into[j], from[j]): what each of them has seen. */
void ckpt_vector_meet(uint64_t *into, const uint64_t *from, uint32_t n);

/* Is each component of `a` at most that of `b`? */
bool ckpt_vector_within(const uint64_t *a, const uint64_t *b, uint32_t n);

/*
 * The sum of all components. If `a` happened before `b`, its sum is smaller:
 * sorting by sums extends happened-before (4.4.2).
 */
uint64_t ckpt_vector_sum(const uint64_t *time, uint32_t n);

#endif
