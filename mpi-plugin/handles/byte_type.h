/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * byte_type.h - describe any number of bytes to a lower half, whose counts are
 * ints.
 *
 * More than INT_MAX bytes are one element of a type made for them: whole blocks
 * of 1 GiB and the rest (MPI 3.1, section 4.1.11, the technique for large
 * counts).
 */
#ifndef CKPT_BYTE_TYPE_H
#define CKPT_BYTE_TYPE_H

#include "handles/handles.h"

#include <stddef.h>

/* Arguments of a lower call that describe `size` bytes. */
struct ckpt_bytes {
    int count;
    MPI_Datatype type; /* lower */
    int is_made;
};

/* Sets *bytes, and makes a type if one is needed. Returns an MPI error code;
 * after an error there is nothing to free. Context: place for lower-half
 * calls. */
int ckpt_bytes_describe(size_t size, struct ckpt_bytes *bytes);

/* Frees the type. A call that is under way may still use it. Context: the
 * same. */
void ckpt_bytes_free(struct ckpt_bytes *bytes);

#endif
