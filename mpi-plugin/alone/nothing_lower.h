/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nothing_lower.h - the lower half's table in a process without one.
 */
#ifndef CKPT_NOTHING_LOWER_H
#define CKPT_NOTHING_LOWER_H

#include "lower/lower.h"

/* Sets the owns_* functions, which answer that the lower half owns nothing.
 * They run with the program's own thread pointer. Context: any. */
void ckpt_nothing_lower(struct ckpt_lower *table);

#endif
