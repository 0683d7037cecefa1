/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_file.h - write messages that cross a cut into the checkpoint, and load
 * them at a restart (struct ckpt_logged_message, ckpt/wire.h).
 */
#ifndef CKPT_LOG_FILE_H
#define CKPT_LOG_FILE_H

#include "ckpt/failure.h"
#include "handles/message_log.h"

/* Creates the file. Returns 0 or -errno. Context of all: any. */
int ckpt_log_file_open(const char *path, struct ckpt_failure *failure);

/* Appends a message; `request` as in struct ckpt_logged_message.
 * ckpt_log_file_close reports a failure. */
void ckpt_log_file_write(MPI_Comm comm, const struct ckpt_log_entry *entry,
                         const void *request);

/* Records that a message could not be logged. Only the first such error is
 * kept. */
void ckpt_log_file_fail(int error);

/* Closes the file, and counts what it holds. Returns 0, or the first error
 * with a reason. */
int ckpt_log_file_close(uint64_t *messages_p, uint64_t *bytes_p,
                        struct ckpt_failure *failure);

int ckpt_log_file_descriptor(void);

/* Called after a restart: the file does not exist in this process. */
void ckpt_log_file_forget(void);

/*
 * Puts the messages of an image's log into the logs of the communicators, which
 * exist again. Context: quiesced. Returns 0 or -errno with a reason.
 */
int ckpt_log_load(const void *log, uint64_t size, struct ckpt_failure *failure);

/* Returns the loaded message that `request` (a receive, or a matched message)
 * had matched at the cut, or NULL. The caller then owns it. */
struct ckpt_log_entry *ckpt_log_bound(const void *request);

#endif
