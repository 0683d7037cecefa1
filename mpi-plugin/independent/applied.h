/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * applied.h - records of logs, brought into private memory in a replay: of two for the same
 * bytes the one that was delivered later stays, in whichever order they become known
 * (docs/windows.md, section 6).
 */
#ifndef CKPT_INDEPENDENT_APPLIED_H
#define CKPT_INDEPENDENT_APPLIED_H

#include "independent/volatile_log.h"

#pragma GCC visibility push(hidden)

/*
 * Brings a delivered record into the memory of its piece. Both stay where they are until
 * ckpt_applied_forget(). Ends the process if there is no memory: nothing could be told of
 * what comes then. Context: normal.
 */
void ckpt_applied_add(struct ckpt_log_record *record, char *memory);

/* A replay has ended. */
void ckpt_applied_forget(void);

#pragma GCC visibility pop

#endif
