/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * applied.h - log records that a replay applies to private memory. If two records have the
 * same bytes, the later delivery stays, in whichever order they become known
 * (docs/windows.md, section 6).
 */
#ifndef CKPT_INDEPENDENT_APPLIED_H
#define CKPT_INDEPENDENT_APPLIED_H

#include "independent/log/volatile_log.h"

#pragma GCC visibility push(hidden)

/*
 * Applies a delivered record to the memory of its piece. The record and the memory must
 * keep their addresses until ckpt_applied_forget(). Ends the process if it is out of
 * memory: later records could not be applied correctly. Context: normal.
 */
void ckpt_applied_add(struct ckpt_log_record *record, char *memory);

/* Called when a replay has ended: forgets all records. */
void ckpt_applied_forget(void);

#pragma GCC visibility pop

#endif
