/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * name.h - records the object of a name before the name changes.
 *
 * On an error the functions call ckpt_undo_lost(). Context: the journal's lock is held; upper
 * half.
 */
#ifndef CKPT_JOURNAL_NAME_H
#define CKPT_JOURNAL_NAME_H

/* The name `path`, relative to `directory` as in system calls, will refer to another object, or
 * to none. */
void ckpt_name_before_change(int directory, const char *path);

/* `to` becomes a hard link to `from`. follow: a symbolic link `from` is followed. */
void ckpt_name_before_link(int from_directory, const char *from, int to_directory,
                           const char *to, int follow);

/* The program opens the name with these flags of open(2). */
void ckpt_name_before_open(int directory, const char *path, int flags);

/* The program renames the object with these flags of renameat2(2). */
void ckpt_name_before_rename(int from_directory, const char *from,
                             int to_directory, const char *to, unsigned flags);

#endif
