/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content_hash.h - tells two contents of a file apart if its times cannot.
 *
 * The kernel takes the time of a change from a clock that ticks every few milliseconds, and
 * some file systems store whole seconds. A file that changes again before the next tick keeps
 * its times.
 */
#ifndef CKPT_JOURNAL_CONTENT_HASH_H
#define CKPT_JOURNAL_CONTENT_HASH_H

#include "ckpt/journal.h"

#include <sys/stat.h>

/* Begins a mark: all hashes of one mark together take a bounded time. */
void ckpt_content_hash_begin(void);

/*
 * Adds the hash of the content of the file `path`, with the given status, to the record, and
 * sets CKPT_JOURNAL_HASHED. Does so only if the file has changed so recently that its next
 * change may leave its times unchanged. Does nothing if the file cannot be read, or if this
 * mark has hashed enough bytes.
 * Context: normal or quiesced; the journal's lock is held, or no other thread runs.
 */
void ckpt_content_hash_add(struct ckpt_journal_record *record, const char *path,
                           const struct stat *status);

#endif
