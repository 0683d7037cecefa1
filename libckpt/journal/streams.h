/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * streams.h - the standard streams that the launcher gave are not rolled back,
 * even if they lead to files. Context of all functions: any but freestanding.
 */
#ifndef CKPT_JOURNAL_STREAMS_H
#define CKPT_JOURNAL_STREAMS_H

#include <sys/stat.h>

/* At the start of the process: learns what descriptors 0, 1 and 2 are. */
void ckpt_journal_streams_open(void);

/* At a mark: notes which of them are the launcher's still. After a restart: these
 * are the new launcher's. */
void ckpt_journal_streams_mark(void);
void ckpt_journal_streams_resume(void);

/* 1 if the file is one of them. */
int ckpt_journal_is_stream(const struct stat *status);

#endif
