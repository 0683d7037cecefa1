/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.h - keep a file that is about to be replaced, removed or overwritten.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_KEEP_H
#define CKPT_JOURNAL_KEEP_H

#include "journal/undo_log.h"

/*
 * Keeps the regular file `path`, which has the given status, under a name of the
 * journal: by a hard link, or else by a copy. kept: that name [CKPT_UNDO_PATH].
 * Returns 0 with *is_copy_p set, or -errno.
 */
int ckpt_keep_file(const char *path, const struct stat *status, char *kept,
                   int *is_copy_p);

/* Makes a directory that only the user can enter. One that is there must be such a directory, as
 * others may write beside it. 0 or -errno. Context: any. */
int ckpt_keep_directory(const char *path);

/* Makes the file `to`, with mode 0600 and the first status->st_size bytes of `path`, whose
 * blocks it shares where the file system can. 0 or -errno: then it is not there. */
int ckpt_keep_copy(const char *path, const struct stat *status, const char *to);

/*
 * Keeps a copy of the content of the file `path`: its blocks are shared where the
 * file system can, else copied. Result as above.
 */
int ckpt_keep_content(const char *path, const struct stat *status, char *kept);

/*
 * Prepares to put an empty file with the same owner, mode and name in the place
 * of the regular file `path`, whose inode is kept at `kept`: if nobody can tell
 * the difference (one link, no process has it open, no extended attributes).
 * Returns 1 with the status of the new file in *empty, 0 if it cannot be done.
 */
int ckpt_keep_to_replace(const char *path, const struct stat *status, char *kept,
                         struct stat *empty);

/* Does it, when that is recorded. 0 or -errno: the file is as it was. */
int ckpt_keep_replace(const char *path);

#endif
