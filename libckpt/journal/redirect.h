/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redirect.h - the program's system calls on concealed objects.
 */
#ifndef CKPT_JOURNAL_REDIRECT_H
#define CKPT_JOURNAL_REDIRECT_H

#include "journal/call.h"

/*
 * Makes the call if the kernel would not give the program its view, or would show the changes
 * to other processes: sets call->is_done and call->result. Otherwise the call goes to the
 * kernel. Context: the journal's lock is held; upper half.
 */
void ckpt_redirect_call(struct ckpt_journal_call *call);

/* Handles execve(): returns 1 if the call must be made with `path`[CKPT_UNDO_PATH] instead. May
 * set call->is_done. Context: as above. */
int ckpt_redirect_execute(struct ckpt_journal_call *call, char *path);

/*
 * Does the same for a file that the MPI library opens itself: writes the path that it must use
 * to `found`[CKPT_UNDO_PATH]. writes: the file will be changed; creates: it is created if it
 * does not exist.
 */
void ckpt_redirect_open(const char *path, int writes, int creates, char *found);

/* Returns 1 if calls of this number are diverted only while outputs are concealed. */
int ckpt_redirect_wants(long number);

#endif
