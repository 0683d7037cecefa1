/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.h - the keys and values of an info object as one text: pairs of
 * NUL-terminated strings, then an empty key.
 */
#ifndef CKPT_INFO_H
#define CKPT_INFO_H

#include "handles/handles.h"

/* Writes down a lower info object. Returns the pairs, of *size bytes from
 * ckpt_memory_alloc, or NULL. Context: place for lower-half calls. */
char *ckpt_info_pairs(MPI_Info lower, size_t *size);

/* Sets the pairs in a lower info object. Returns an MPI error code. Same
 * context, also quiesced. */
int ckpt_info_set_pairs(MPI_Info lower, const char *pairs);

#endif
