/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shadow.h - make and remove concealed objects.
 *
 * Each change of the place is recorded as the program's own changes are, so that it
 * rolls back. Context of all functions: as in view.h.
 */
#ifndef CKPT_JOURNAL_SHADOW_H
#define CKPT_JOURNAL_SHADOW_H

#include "journal/view.h"

/*
 * Lets an object be made at view->shadow: the directories above it are there, and
 * nothing says that the name is gone. 0; -EACCES if the user may not make names in
 * the visible directory; another -errno if it cannot be concealed.
 */
int ckpt_shadow_prepare(const struct ckpt_view *view);

/*
 * The visible file, or symbolic link, becomes a concealed one with the same
 * content, mode, owner and times. is_emptied: a file of size 0. Fills in the
 * view. 0 or -errno: the visible one is as it was.
 */
int ckpt_shadow_copy(struct ckpt_view *view, int is_emptied);

/* A visible file of which another name has been copied: the name stands for that copy from
 * now on. Fills in the view. */
void ckpt_shadow_join(struct ckpt_view *view);

/*
 * The visible or merged directory becomes a concealed one, with copies of all that the
 * program sees in it: it is going to get another name. Fills in the view. 0 or -errno.
 */
int ckpt_shadow_copy_directory(struct ckpt_view *view);

/* The program sees nothing under this name, which has no concealed object (any more).
 * 0 or -errno. */
int ckpt_shadow_hide(const struct ckpt_view *view);

/* Removes the concealed part of a merged directory that is empty to the program.
 * 0 or -errno. */
int ckpt_shadow_remove_merged(const struct ckpt_view *view);

/* 1 if the program sees no name in the directory; else 0 or -errno. */
int ckpt_shadow_is_empty(const struct ckpt_view *view);

/*
 * In a process that is being restarted: a concealed file is revealed by then, but the
 * program has it open to write to it. The visible file becomes a concealed one again, if
 * there is one; the directories around it are made in any case. shadow: its path, prefix:
 * ckpt_concealed_prefix(shadow). journal: its directory. 0 or -errno. Context: normal.
 */
int ckpt_shadow_restore(const char *journal, const char *shadow, size_t prefix);

/* Records in which order the program has produced what is to be revealed. removed: the
 * visible object that it has removed from this name; NULL: none. */
void ckpt_shadow_produced(const char *path, enum ckpt_journal_product product,
                          const struct stat *removed);

#endif
