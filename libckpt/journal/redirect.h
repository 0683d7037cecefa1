/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redirect.h - system calls of the program that meet concealed objects.
 */
#ifndef CKPT_JOURNAL_REDIRECT_H
#define CKPT_JOURNAL_REDIRECT_H

#include "journal/call.h"

/*
 * Makes the call if the kernel would not give it the program's view, or would let
 * others see what it changes: sets call->is_done and call->result. Else the call
 * goes on to the kernel. Context: the journal's lock is held; upper half.
 */
void ckpt_redirect_call(struct ckpt_journal_call *call);

/* execve(): 1 if it is to be made with `path`[CKPT_UNDO_PATH] instead. May set
 * call->is_done. Context: as above. */
int ckpt_redirect_execute(struct ckpt_journal_call *call, char *path);

/*
 * The same for a file that the MPI library opens by itself: the path that it is to use goes
 * to `found`[CKPT_UNDO_PATH]. writes: the file will be changed; creates: it is made if it is
 * not there.
 */
void ckpt_redirect_open(const char *path, int writes, int creates, char *found);

/* Whether calls of this number are diverted only while outputs are concealed. */
int ckpt_redirect_wants(long number);

#endif
