/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - the files that the program has read or written, so that a restart can
 * tell whether somebody else has changed them.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_WATCH_H
#define CKPT_JOURNAL_WATCH_H

/* Remembers a file by its absolute path. */
void ckpt_watch_add(const char *path, int is_written);

/* From now on the file changes in ways that the journal does not see, and that the
 * image covers: it is not compared. */
void ckpt_watch_exempt(const char *path);

/* Records the state of all that are there. 0 or -errno. Context: quiesced. */
int ckpt_watch_record(void);

#endif
