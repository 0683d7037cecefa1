/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * streams.h - standard streams from the launcher are not rolled back, even if they are files.
 * Context of all functions: any but freestanding.
 */
#ifndef CKPT_JOURNAL_STREAMS_H
#define CKPT_JOURNAL_STREAMS_H

#include <sys/stat.h>

/* Called at the start of the process: records the files of descriptors 0, 1 and 2. */
void ckpt_journal_streams_open(void);

/* mark: records which of the descriptors are still the launcher's. resume: after a restart,
 * records the new launcher's files for those. */
void ckpt_journal_streams_mark(void);
void ckpt_journal_streams_resume(void);

/* Returns 1 if the file is one of the streams. */
int ckpt_journal_is_stream(const struct stat *status);

#endif
