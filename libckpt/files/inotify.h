/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inotify.h - the half of the inotify kind that runs in the restart program;
 * see struct ckpt_file_ops.
 */
#ifndef CKPT_FILES_INOTIFY_H
#define CKPT_FILES_INOTIFY_H

#include "files/file_kind.h"

/* A descriptor that watches nothing. Context: normal. */
int ckpt_inotify_restore(struct ckpt_file_restore *restore,
                         const struct ckpt_file *file,
                         struct ckpt_failure *failure);

/* Watches when all files have been opened, so that it does not report that.
 * Context: normal. */
int ckpt_inotify_finish(struct ckpt_file_restore *restore,
                        const struct ckpt_file *file,
                        struct ckpt_failure *failure);

#endif
