/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_output.h - holds lines on standard output until a checkpoint commits.
 *
 * The journal stores the output of the program. `ckpt run` passes it on, in the order in which
 * all processes of the job have written it.
 */
#ifndef CKPT_JOURNAL_HELD_OUTPUT_H
#define CKPT_JOURNAL_HELD_OUTPUT_H

#include "journal/call.h"

#include <stddef.h>

/*
 * Called at the start of the process. given: the value of ckpt_held_name() in the process that
 * started this one; with NULL or "" descriptor 1 is the job's output. Context: normal.
 */
void ckpt_held_open(const char *given);

/* Writes "DEVICE:INODE" of the job's output, for child processes. Returns the length. */
size_t ckpt_held_name(char *name, size_t capacity);

/* mark: the process describes itself for a checkpoint. resume: it continues after a restart,
 * with the output of another launcher. Context: quiesced. */
void ckpt_held_mark(void);
void ckpt_held_resume(void);

/* Handles write() or writev(): makes the call if it goes to the job's output. Context: the
 * journal's lock is held; upper half. */
void ckpt_held_write(struct ckpt_journal_call *call);

#endif
