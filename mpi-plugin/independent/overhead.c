/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.c - see overhead.h.
 */
#include "independent/overhead.h"

#include <time.h>

#define SECOND UINT64_C(1000000000)
#define EACH   61 /* a prime: programs repeat in rounder numbers */
#define TRIES  16

uint64_t ckpt_overhead_clock(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* Returns the minimum time between two successive clock readings, in ns. */
static uint64_t of_clock(void)
{
    static uint64_t least;

    for (int i = 0; i < TRIES && (i > 0 || least == 0); i++) {
        const uint64_t began = ckpt_overhead_clock();
        const uint64_t took = ckpt_overhead_clock() - began;

        least = least == 0 || took < least ? took : least;
    }
    return least;
}

uint64_t ckpt_overhead_begin(void)
{
    static uint32_t count;

    count = count + 1 < EACH ? count + 1 : 0;
    return count == 0 ? ckpt_overhead_clock() : 0;
}

void ckpt_overhead_end(uint64_t began)
{
    uint64_t took, nothing;

    if (began != 0) {
        took = ckpt_overhead_clock() - began;
        nothing = of_clock();
        ckpt_independent_self->logging_ns += EACH * (took > nothing ? took - nothing : 0);
    }
}
