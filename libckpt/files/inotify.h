/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inotify.h - the restart half of the inotify kind; see struct ckpt_file_ops.
 */
#ifndef CKPT_FILES_INOTIFY_H
#define CKPT_FILES_INOTIFY_H

#include "files/file_kind.h"

/* Creates a descriptor without watches. Context: normal. */
int ckpt_inotify_restore(struct ckpt_file_restore *restore,
                         const struct ckpt_file *file,
                         struct ckpt_failure *failure);

/* Adds the watches after all files have been opened, so that they do not report
 * the opening. Context: normal. */
int ckpt_inotify_finish(struct ckpt_file_restore *restore,
                        const struct ckpt_file *file,
                        struct ckpt_failure *failure);

#endif
