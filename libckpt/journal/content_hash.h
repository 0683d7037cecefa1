/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content_hash.h - tell two contents of a file apart where its times cannot.
 *
 * The kernel takes the time of a change from a clock that ticks every few
 * milliseconds, and some file systems store whole seconds. A file that changes again
 * before the next tick keeps its times.
 */
#ifndef CKPT_JOURNAL_CONTENT_HASH_H
#define CKPT_JOURNAL_CONTENT_HASH_H

#include "ckpt/journal.h"

#include <sys/stat.h>

/* Begins a mark: hashes of it take a bounded time together. */
void ckpt_content_hash_begin(void);

/*
 * If the file `path`, which has the given status, has changed so recently that its
 * times may stay as they are when it changes next, puts the hash of its content into the
 * record, with CKPT_JOURNAL_HASHED. Does nothing if the file cannot be read, or if
 * enough was hashed for this mark.
 * Context: normal or quiesced; the journal's lock is held, or no other thread runs.
 */
void ckpt_content_hash_add(struct ckpt_journal_record *record, const char *path,
                           const struct stat *status);

#endif
