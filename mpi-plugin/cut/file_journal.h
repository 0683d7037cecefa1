/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_journal.h - when this process records changes of files, and where
 * (libckpt/journal/journal.h has the rest).
 */
#ifndef CKPT_FILE_JOURNAL_H
#define CKPT_FILE_JOURNAL_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"

/* REQUEST: the agent names the mark of the checkpoint and the journal's directory.
 * Context: any place that serves. */
void ckpt_file_journal_told(const struct ckpt_message *request);

/* This rank is about to describe itself for that checkpoint. 0, or -errno with the
 * reason why it cannot be saved. Context: quiesced. */
int ckpt_file_journal_mark(struct ckpt_failure *failure);

/* After a restart: goes on where the new launch says. 0 or -errno with the reason.
 * Context: quiesced. */
int ckpt_file_journal_resume(struct ckpt_failure *failure);

#endif
