/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listing.h - names in a partly concealed directory, and open concealed files.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_LISTING_H
#define CKPT_JOURNAL_LISTING_H

#include "journal/call.h"

/* Handles getdents64(): makes the call if the directory has concealed names. The caller holds
 * ckpt_concealed_lock(). */
void ckpt_listing_read(struct ckpt_journal_call *call);

/* Handles lseek(): makes the call if it is for such a directory. */
void ckpt_listing_seek(struct ckpt_journal_call *call);

/* The program has opened a concealed file for writing. */
void ckpt_listing_written(int fd);

/* The program is about to close the descriptor, or to put another file there. */
void ckpt_listing_closing(int fd);

/* Records which concealed files are open for writing at the mark that follows. A file that was
 * closed through one descriptor may be open through another one. Returns 0 or -errno. Context:
 * quiesced. */
int ckpt_listing_mark(void);

#endif
