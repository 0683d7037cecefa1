/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h - the absolute path of what a system call names.
 *
 * Context of all functions: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_PATH_H
#define CKPT_JOURNAL_PATH_H

#include "journal/undo_log.h"

/*
 * What (directory, path) of a system call names: its absolute path goes to
 * `found`[CKPT_UNDO_PATH], its status to *status. Symbolic links in the directory
 * part may remain. follow: a symbolic link at the end is followed, also one that
 * leads to nothing.
 * Returns 0; -ENOENT with `found` if nothing is there but it could be made; another
 * -errno if the call will fail, also if `path` cannot be read.
 */
int ckpt_journal_path(int directory, const char *path, int follow,
                      char *found, struct stat *status);

/* What the kernel shows for a descriptor, into found[CKPT_UNDO_PATH]: a path, with " (deleted)"
 * behind it if it has lost that name, or "pipe:[N]" and the like. Its length or -errno. */
long ckpt_journal_descriptor_link(int fd, char *found);

/* The directory from which a relative path of a system call leads, as the kernel knows it, into
 * found[CKPT_UNDO_PATH]. directory: a descriptor or AT_FDCWD. 0 or -errno. */
int ckpt_journal_base(int directory, char *found);

/* The path of the open file `fd`, as the kernel shows it. 0, or -errno, also if
 * that path does not lead to the file (any more). */
int ckpt_journal_descriptor_path(int fd, char *found);

/* 1 if changes there are not the journal's business: files of the kernel, of
 * devices, and the journal itself. */
int ckpt_journal_path_is_exempt(const char *path);

#endif
