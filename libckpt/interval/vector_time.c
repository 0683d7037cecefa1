/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector_time.c - vector times: which interval of whom has been seen.
 */
#include "interval/vector_time.h"

uint64_t ckpt_vector_end_interval(uint64_t *time, uint32_t self)
{
    return ++time[self];
}

void ckpt_vector_merge(uint64_t *into, const uint64_t *from, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        if (into[j] < from[j]) {
            into[j] = from[j];
        }
    }
}

void ckpt_vector_meet(uint64_t *into, const uint64_t *from, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        if (into[j] > from[j]) {
            into[j] = from[j];
        }
    }
}

bool ckpt_vector_within(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    for (uint32_t j = 0; j < n; j++) {
        if (a[j] > b[j]) {
            return false;
        }
    }
    return true;
}

uint64_t ckpt_vector_sum(const uint64_t *time, uint32_t n)
{
    uint64_t sum = 0;

    for (uint32_t j = 0; j < n; j++) {
        sum += time[j];
    }
    return sum;
}
