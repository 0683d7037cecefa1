/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_output.h - lines on standard output that are held until a checkpoint commits.
 *
 * What the program writes there goes into the journal. `ckpt run` passes it on, in
 * the order in which all processes of the job have written.
 */
#ifndef CKPT_JOURNAL_HELD_OUTPUT_H
#define CKPT_JOURNAL_HELD_OUTPUT_H

#include "journal/call.h"

#include <stddef.h>

/*
 * At the start of the process: given: what ckpt_held_name() was in the process that
 * has started this one, or NULL or "": then descriptor 1 is the job's output.
 * Context: normal.
 */
void ckpt_held_open(const char *given);

/* "DEVICE:INODE" of the job's output, for children. Returns the length. */
size_t ckpt_held_name(char *name, size_t capacity);

/* The process describes itself for a checkpoint; and it goes on, with the output of
 * another launcher. Context: quiesced. */
void ckpt_held_mark(void);
void ckpt_held_resume(void);

/* write() or writev(): if it is for the job's output, makes the call. Context: the
 * journal's lock is held; upper half. */
void ckpt_held_write(struct ckpt_journal_call *call);

#endif
