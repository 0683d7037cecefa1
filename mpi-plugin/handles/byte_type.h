/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * byte_type.h - tell a lower half, whose counts are ints, of any number of bytes.
 *
 * More than INT_MAX bytes are one element of a type made for them: whole blocks of
 * 1 GiB and the rest (MPI 3.1, section 4.1.11, the technique for large counts).
 */
#ifndef CKPT_BYTE_TYPE_H
#define CKPT_BYTE_TYPE_H

#include "handles/handles.h"

#include <stddef.h>

/* Arguments of a lower call that mean `size` bytes. */
struct ckpt_bytes {
    int count;
    MPI_Datatype type; /* lower */
    int is_made;
};

/* Makes the type if one is needed. MPI error code; then there is nothing to free.
 * Context: place for lower-half calls. */
int ckpt_bytes_describe(size_t size, struct ckpt_bytes *bytes);

/* A call that is under way may go on. Context: the same. */
void ckpt_bytes_free(struct ckpt_bytes *bytes);

#endif
