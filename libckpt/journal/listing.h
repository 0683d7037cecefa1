/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listing.h - the names in a directory that is partly concealed, and open concealed files.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_LISTING_H
#define CKPT_JOURNAL_LISTING_H

#include "journal/call.h"

/* getdents64(): if names of the directory are concealed, makes the call.
 * ckpt_concealed_lock() is held. */
void ckpt_listing_read(struct ckpt_journal_call *call);

/* lseek(): of such a directory, makes the call. */
void ckpt_listing_seek(struct ckpt_journal_call *call);

/* The program has opened a concealed file to write to it. */
void ckpt_listing_written(int fd);

/* It closes the descriptor, or puts another file there. */
void ckpt_listing_closing(int fd);

#endif
