/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nothing_lower.h - what is the lower half's in a process that has none.
 */
#ifndef CKPT_NOTHING_LOWER_H
#define CKPT_NOTHING_LOWER_H

#include "lower/lower.h"

/* Fills in the questions about what is the lower half's: nothing is, and they can
 * be called with the program's own thread pointer. Context: any. */
void ckpt_nothing_lower(struct ckpt_lower *table);

#endif
