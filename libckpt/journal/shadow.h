/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shadow.h - creates and removes concealed objects.
 *
 * Each change of the place is recorded like the program's own changes, so that it is rolled
 * back, too. Context of all functions: as in view.h.
 */
#ifndef CKPT_JOURNAL_SHADOW_H
#define CKPT_JOURNAL_SHADOW_H

#include "journal/view.h"

/*
 * Prepares the creation of an object at view->shadow: creates the directories above it, and
 * removes the mark of a removed name. Returns 0; -EACCES if the user may not create names in
 * the visible directory; another -errno if the object cannot be concealed.
 */
int ckpt_shadow_prepare(const struct ckpt_view *view);

/*
 * Makes a visible file or symbolic link a concealed one with the same content, mode, owner and
 * times. is_emptied: the copy has size 0. Updates the view. Returns 0, or -errno with the
 * visible object unchanged.
 */
int ckpt_shadow_copy(struct ckpt_view *view, int is_emptied);

/* If another name of the visible file has been copied, makes this name refer to that copy, too.
 * Updates the view. */
void ckpt_shadow_join(struct ckpt_view *view);

/*
 * Makes a visible or merged directory a concealed one, since it is about to be renamed. Copies
 * all objects that the program sees in the directory. Updates the view. Returns 0 or -errno.
 */
int ckpt_shadow_copy_directory(struct ckpt_view *view);

/* Hides the visible object of this name, which has no concealed object (any more), from the
 * program. Returns 0 or -errno. */
int ckpt_shadow_hide(const struct ckpt_view *view);

/* Removes the concealed part of a merged directory that the program sees as empty. Returns 0 or
 * -errno. */
int ckpt_shadow_remove_merged(const struct ckpt_view *view);

/* Returns 1 if the program sees no name in the directory; else 0 or -errno. */
int ckpt_shadow_is_empty(const struct ckpt_view *view);

/*
 * For a process that is being restarted. A concealed file has been revealed by then, but the
 * program has it open for writing. Makes the visible file, if it exists, a concealed one again;
 * creates the directories above it in any case. shadow: its path; prefix:
 * ckpt_concealed_prefix(shadow). journal: its directory. Returns 0 or -errno. Context: normal.
 */
int ckpt_shadow_restore(const char *journal, const char *shadow, size_t prefix);

/* Records the program's change of an object that will be revealed; the records keep the order
 * of the changes. removed: the visible object that the program has removed from this name;
 * NULL: none. */
void ckpt_shadow_produced(const char *path, enum ckpt_journal_product product,
                          const struct stat *removed);

#endif
