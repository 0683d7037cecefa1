/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_file.h - messages that cross a cut, on their way into the checkpoint and
 * out of it (struct ckpt_logged_message, ckpt/wire.h).
 */
#ifndef CKPT_LOG_FILE_H
#define CKPT_LOG_FILE_H

#include "ckpt/failure.h"
#include "cut/message_log.h"

/* Makes the file. 0 or -errno. Context of all: any. */
int ckpt_log_file_open(const char *path, struct ckpt_failure *failure);

/* Appends a message; `request` as in struct ckpt_logged_message. What goes wrong
 * is remembered for ckpt_log_file_close. */
void ckpt_log_file_write(MPI_Comm comm, const struct ckpt_log_entry *entry,
                         const void *request);

/* A message could not be logged: the first such error counts. */
void ckpt_log_file_fail(int error);

/* What has been written; 0, or the first error with a reason. */
int ckpt_log_file_close(uint64_t *messages_p, uint64_t *bytes_p,
                        struct ckpt_failure *failure);

int ckpt_log_file_descriptor(void);

/* After a restart there is no such file. */
void ckpt_log_file_forget(void);

/*
 * Puts the messages of an image's log into the logs of the communicators, which
 * have been made again. Context: quiesced. 0 or -errno with a reason.
 */
int ckpt_log_load(const void *log, uint64_t size, struct ckpt_failure *failure);

/* The loaded message that `request` (a receive, or a matched message) had been
 * matched with at the cut, or NULL; it then belongs to the caller. */
struct ckpt_log_entry *ckpt_log_bound(const void *request);

#endif
