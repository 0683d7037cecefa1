/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * expense.h - what this rank's logs and checkpoints cost it, which the page tells
 * (ckpt/independent.h).
 *
 * To read the clock takes about as long as to log a few bytes. So one record of many is
 * timed, and counts for as many.
 */
#ifndef CKPT_INDEPENDENT_EXPENSE_H
#define CKPT_INDEPENDENT_EXPENSE_H

#include "independent/page.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Nanoseconds of CLOCK_MONOTONIC. Context: normal. */
uint64_t ckpt_expense_clock(void);

/* Around what is done for a record that is logged: if this is one of those that are timed,
 * when it began; else 0. Between begin and end, not nested. */
uint64_t ckpt_expense_begin(void);
void ckpt_expense_end(uint64_t began);

#pragma GCC visibility pop

/* Bytes of the program's that have been sent to a window, or came from one. */
static inline void ckpt_expense_payload(uint64_t bytes)
{
    ckpt_independent_self->payload_bytes += bytes;
}

#endif
