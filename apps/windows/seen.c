/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seen.c - see seen.h.
 */
#include "seen.h"

#include "generator.h"

static int counts;
static uint64_t number;

void seen_begin(void)
{
    counts = 1;
}

void seen(const void *bytes, size_t count)
{
    if (counts) {
        number = checksum(number, bytes, count);
    }
}

uint64_t seen_number(void)
{
    return number;
}
