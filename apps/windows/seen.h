/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seen.h - a number computed from all data that a rank has read from windows, one for the process.
 * A rank that repeats a step and reads the same data gets the same number again.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stddef.h>
#include <stdint.h>

/* Starts to count reads; this takes time. */
void seen_begin(void);

/* Adds bytes that were read from a window, after the earlier ones. */
void seen(const void *bytes, size_t count);

/* Returns the number for all reads so far; it is the same in all ranks without reads. */
uint64_t seen_number(void);

#endif
