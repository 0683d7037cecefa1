/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_journal.h - when this process records changes of files, and where
 * (libckpt/journal/journal.h has the rest).
 */
#ifndef CKPT_FILE_JOURNAL_H
#define CKPT_FILE_JOURNAL_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"

/* Obeys REQUEST: the agent names the checkpoint's mark and the journal's
 * directory. Context: any place that answers the agent. */
void ckpt_file_journal_told(const struct ckpt_message *request);

/* Sets the mark, just before this rank describes itself for that checkpoint.
 * Returns 0, or -errno with the reason why it cannot be saved. Context:
 * quiesced. */
int ckpt_file_journal_mark(struct ckpt_failure *failure);

/* Continues the journal after a restart, in the directory that the new launch
 * names. Returns 0 or -errno with the reason. Context: quiesced. */
int ckpt_file_journal_resume(struct ckpt_failure *failure);

#endif
