/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.h - the cost of this rank's logs and checkpoints, which the shared
 * page shows (ckpt/independent.h).
 *
 * Reading the clock takes about as long as logging a few bytes. So only one
 * record in many is timed, and counts for all.
 */
#ifndef CKPT_INDEPENDENT_OVERHEAD_H
#define CKPT_INDEPENDENT_OVERHEAD_H

#include "independent/page.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns nanoseconds of CLOCK_MONOTONIC. Context: normal. */
uint64_t ckpt_overhead_clock(void);

/* Called before and after the work for a logged record. _begin returns the
 * start time if this record is timed, else 0. Between begin and end, not
 * nested. */
uint64_t ckpt_overhead_begin(void);
void ckpt_overhead_end(uint64_t began);

#pragma GCC visibility pop

/* Counts bytes of the program that went to a window, or came from one. */
static inline void ckpt_overhead_payload(uint64_t bytes)
{
    ckpt_independent_self->payload_bytes += bytes;
}

#endif
