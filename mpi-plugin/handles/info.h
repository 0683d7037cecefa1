/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.h - the keys and values of an info object as one text: pairs of
 * NUL-terminated strings, then an empty key.
 */
#ifndef CKPT_INFO_H
#define CKPT_INFO_H

#include "handles/handles.h"

/* Writes down a lower info object (a null one has no pairs). Returns the pairs,
 * *size bytes from ckpt_memory_alloc, or NULL. Context: place for lower-half
 * calls. */
char *ckpt_info_pairs(MPI_Info lower, size_t *size);

/* Sets the pairs in a lower info object. Returns an MPI error code. Same
 * context, also quiesced. */
int ckpt_info_set_pairs(MPI_Info lower, const char *pairs);
/* The same, with the lower thread pointer, without the key `but` (or NULL). */
int ckpt_info_add(MPI_Info lower, const char *pairs, const char *but);

/* As ckpt_info_pairs(), in place of *pairs (of *size bytes, or NULL), and frees
 * the lower object. Without memory *pairs is unchanged. Same context. */
void ckpt_info_take(char **pairs, size_t *size, MPI_Info *lower);

/* Adds the pairs of a lower info object to *pairs (of *size bytes, or NULL),
 * and replaces *pairs by the new copy. New values replace old ones. Returns 0,
 * or -ENOMEM without any change. Context: place for lower-half calls. */
int ckpt_info_merge(char **pairs, size_t *size, MPI_Info info);

/* Returns whether a key has the value "true". Context: any. */
int ckpt_info_is_true(const char *pairs, const char *wanted);

/* Returns the value of a key in the pairs, or NULL. Context: normal. */
const char *ckpt_info_value(const char *pairs, const char *wanted);

#endif
