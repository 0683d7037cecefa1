/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - records the files that the program has read or written, so that a restart can
 * detect changes by other programs.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_WATCH_H
#define CKPT_JOURNAL_WATCH_H

/* Adds a file by its absolute path. */
void ckpt_watch_add(const char *path, int is_written);

/* Excludes a file from the comparison: from now on it changes in ways that the journal cannot
 * see and that the image covers. */
void ckpt_watch_exempt(const char *path);

/* Records the state of all files that exist. Returns 0 or -errno. Context: quiesced. */
int ckpt_watch_record(void);

#endif
