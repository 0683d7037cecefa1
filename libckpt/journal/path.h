/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h - finds the absolute path of the object that a system call names.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_PATH_H
#define CKPT_JOURNAL_PATH_H

#include "journal/log/undo_log.h"

/*
 * Finds the object that (directory, path) of a system call names. Writes its absolute path to
 * `found`[CKPT_UNDO_PATH] and its status to *status. Symbolic links in the directory part may
 * remain. follow: a symbolic link at the end is followed, even if its target does not exist.
 * Returns 0; -ENOENT with `found` if the object does not exist but can be created; another
 * -errno if the call will fail, also if `path` cannot be read.
 */
int ckpt_journal_path(int directory, const char *path, int follow,
                      char *found, struct stat *status);

/* Writes the kernel's name for a descriptor to found[CKPT_UNDO_PATH]: a path, with " (deleted)"
 * after it if the file has lost that name, or "pipe:[N]" and the like. Returns its length or
 * -errno. */
long ckpt_journal_descriptor_link(int fd, char *found);

/* Writes the directory to which a relative path of a system call refers, as the kernel names
 * it, to found[CKPT_UNDO_PATH]. directory: a descriptor or AT_FDCWD. Returns 0 or -errno. */
int ckpt_journal_base(int directory, char *found);

/* Writes the kernel's path of the open file `fd` to `found`. Returns 0, or -errno, also if that
 * path does not lead to the file (any more). */
int ckpt_journal_descriptor_path(int fd, char *found);

/* Returns 1 if the journal ignores changes of this path: files of the kernel, of devices, and
 * the journal itself. */
int ckpt_journal_path_is_exempt(const char *path);

#endif
