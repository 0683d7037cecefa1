/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * invariant.h - what the middleware knows to be true, checked while it runs.
 *
 * A false invariant means that this library is wrong or that its memory was overwritten. It
 * does not end the program: the process becomes *unsound*. It says so once on standard error,
 * runs on, and refuses each later checkpoint with that reason. The checkpoints before stay.
 * A restart that becomes unsound fails. The checks are part of every build.
 *
 * Not for data from outside (files, messages, other processes): such data are refused without
 * an invariant. Context of all: any; no libc, no lock, no allocation.
 */
#ifndef CKPT_INVARIANT_H
#define CKPT_INVARIANT_H

#include "ckpt/failure.h"

/* Handles a false invariant; `condition` is its text. Returns 0. The blob has a handler of its
 * own, which ends the process. */
int ckpt_invariant_failed(const char *file, int line, const char *condition)
    __attribute__((cold, noinline));

/* Returns the first false invariant as a text ("FILE:LINE: CONDITION"), or NULL as long as the
 * process is sound. The text stays valid. */
const char *ckpt_unsound(void);

/* Returns 0 if the process is sound. Otherwise -ENOTRECOVERABLE with the reason. Each place
 * that decides whether this process can be saved calls it. */
int ckpt_unsound_refuse(struct ckpt_failure *failure);

/* A handler in place of ckpt_invariant_failed. */
typedef int ckpt_invariant_handler(const char *file, int line, const char *condition);

/* From now on `handler` hears of this program's false invariants. The lower half, which has
 * its own copy of this library, reports to the upper half in this way. NULL: no change. */
void ckpt_invariant_report_to(ckpt_invariant_handler *handler);

static inline int ckpt_invariant_check(int holds, const char *file, int line,
                                       const char *condition)
{
    return __builtin_expect(holds, 1) ? 1 : ckpt_invariant_failed(file, line, condition);
}

/* Checks a condition without side effects. The value is 1 if it holds, otherwise 0: a caller
 * that could do damage without it returns an error. */
#define CKPT_INVARIANT(condition) \
    ckpt_invariant_check(!!(condition), __FILE__, __LINE__, #condition)

#endif
