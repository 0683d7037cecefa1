/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * name.h - record what names stand for before that changes.
 *
 * What cannot be recorded is noted by ckpt_undo_lost(). Context: the journal's
 * lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_NAME_H
#define CKPT_JOURNAL_NAME_H

/* As for system calls: the name `path` in `directory` will stand for something
 * else, or for nothing. */
void ckpt_name_before_change(int directory, const char *path);

/* A hard link to `from` gets the name `to`. follow: the target of a symbolic link. */
void ckpt_name_before_link(int from_directory, const char *from, int to_directory,
                           const char *to, int follow);

/* It is opened with these flags of open(2). */
void ckpt_name_before_open(int directory, const char *path, int flags);

/* It is renamed with these flags of renameat2(2). */
void ckpt_name_before_rename(int from_directory, const char *from,
                             int to_directory, const char *to, unsigned flags);

#endif
