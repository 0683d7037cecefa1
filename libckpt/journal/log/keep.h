/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.h - keeps a file that is about to be replaced, removed or overwritten.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_KEEP_H
#define CKPT_JOURNAL_KEEP_H

#include "journal/log/undo_log.h"

/*
 * Keeps the regular file `path`, with the given status, under a name of the journal: by a hard
 * link, or else by a copy. kept: receives that name [CKPT_UNDO_PATH]. Returns 0 with *is_copy_p
 * set, or -errno.
 */
int ckpt_keep_file(const char *path, const struct stat *status, char *kept,
                   int *is_copy_p);

/* Creates a directory that only the user can enter. An existing one must have these properties,
 * since other users may be able to write next to it. Returns 0 or -errno. Context: any. */
int ckpt_keep_directory(const char *path);

/* Creates the file `to`, with mode 0600 and the first status->st_size bytes of `path`. Shares
 * the blocks of `path` if the file system can. Returns 0, or -errno without the file. */
int ckpt_keep_copy(const char *path, const struct stat *status, const char *to);

/*
 * Keeps a copy of the content of the file `path`. Shares its blocks if the file system can.
 * kept: receives its name. Returns 0 or -errno.
 */
int ckpt_keep_content(const char *path, const struct stat *status, char *kept);

/*
 * Prepares to replace the regular file `path` with an empty file of the same owner, mode and
 * name, and keeps the old inode at `kept`. Does so only if the program cannot notice: the file
 * has one link and no extended attributes, and no process has it open. Returns 1 with the
 * status of the new file in *empty, or 0 if it cannot be replaced.
 */
int ckpt_keep_to_replace(const char *path, const struct stat *status, char *kept,
                         struct stat *empty);

/* Replaces the file, after the record. Returns 0, or -errno with the file unchanged. */
int ckpt_keep_replace(const char *path);

#endif
