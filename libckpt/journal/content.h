/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content.h - record the content and the attributes of files before they change.
 *
 * Each function records what is needed and remembers that it has. They return
 * nothing: what cannot be recorded is noted by ckpt_undo_lost(). Context: the
 * journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_CONTENT_H
#define CKPT_JOURNAL_CONTENT_H

#include <stdint.h>
#include <sys/stat.h>

/* The end of a file, however long it is. */
#define CKPT_TO_THE_END UINT64_MAX

/* Bytes [start, end) of the open file `fd` will change; also beyond its end. */
void ckpt_content_before_write(int fd, uint64_t start, uint64_t end);

/* `size` bytes will be written at the position of `fd`, or at its end with
 * O_APPEND. */
void ckpt_content_before_write_here(int fd, uint64_t size);

/* The open file `fd`, or the file at `path` with the given status, will be cut (or
 * extended) to `size` bytes. */
void ckpt_content_before_cut(int fd, uint64_t size);
void ckpt_content_before_cut_path(const char *path, const struct stat *status,
                                  uint64_t size);

/* Any bytes of the file may change, in ways that the journal does not see. */
void ckpt_content_before_rewriting(const char *path, const struct stat *status);

/* The open file `fd` is mapped: what the journal cannot see is in the image. */
void ckpt_content_mapped(int fd, uint64_t start, uint64_t end);

/* Mode, owner or times will change. */
void ckpt_content_before_attributes(const char *path, const struct stat *status);
void ckpt_content_before_attributes_of(int fd);

#endif
