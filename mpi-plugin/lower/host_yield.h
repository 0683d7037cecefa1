/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_yield.h - how the lower half waits while a checkpoint is under way.
 */
#ifndef CKPT_HOST_YIELD_H
#define CKPT_HOST_YIELD_H

#include "lower/lower.h"

/* From now on sched_yield() looks at table->armed and table->open, if these are
 * given. Context: normal (lower half). */
void ckpt_host_yield_open(const struct ckpt_lower *table);

#endif
