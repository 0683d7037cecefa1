/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_lower_half.h - the lower half's table in a process without one.
 */
#ifndef CKPT_NO_LOWER_HALF_H
#define CKPT_NO_LOWER_HALF_H

#include "lower/lower.h"

/* Sets the owns_* functions, which answer that the lower half owns nothing.
 * They run with the program's own thread pointer. Context: any. */
void ckpt_no_lower_half(struct ckpt_lower *table);

#endif
