/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content.h - records the content and the attributes of files before they change.
 *
 * Each function records what a rollback needs, once. It returns nothing: on an error it calls
 * ckpt_undo_lost(). Context: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_CONTENT_H
#define CKPT_JOURNAL_CONTENT_H

#include <stdint.h>
#include <sys/stat.h>

/* As the end of a range: the end of the file. */
#define CKPT_TO_THE_END UINT64_MAX

/* Bytes [start, end) of the open file `fd` will change; they may lie beyond its end. */
void ckpt_content_before_write(int fd, uint64_t start, uint64_t end);

/* The program will write `size` bytes at the position of `fd`, or at the file's end with
 * O_APPEND. */
void ckpt_content_before_write_here(int fd, uint64_t size);

/* The program will truncate (or extend) the open file `fd`, or the file at `path` with the
 * given status, to `size` bytes. */
void ckpt_content_before_cut(int fd, uint64_t size);
void ckpt_content_before_cut_path(const char *path, const struct stat *status,
                                  uint64_t size);

/* Any bytes of the file may change, in ways that the journal cannot see. */
void ckpt_content_before_rewriting(const char *path, const struct stat *status);

/* The program maps the open file `fd`; the image covers changes that the journal cannot see. */
void ckpt_content_mapped(int fd, uint64_t start, uint64_t end);

/* The mode, owner or times of the file will change. */
void ckpt_content_before_attributes(const char *path, const struct stat *status);
void ckpt_content_before_attributes_of(int fd);

#endif
