/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seen.h - a number made of all that a rank has read from windows, one for the process: a
 * rank that does a step again, and reads what it read then, has the same one again.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stddef.h>
#include <stdint.h>

/* From now on what is read counts: it takes time. */
void seen_begin(void);

/* Bytes that have come from a window, after what came before. */
void seen(const void *bytes, size_t count);

/* Of all so far; the same for all who have seen nothing. */
uint64_t seen_number(void);

#endif
