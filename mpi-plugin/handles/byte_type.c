/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * byte_type.c - a lower datatype for more bytes than an int can count.
 */
#include "handles/byte_type.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <limits.h>

#define BLOCK ((size_t)1 << 30)

/* Makes a type of `size` bytes: whole blocks and a rest. */
static int join(size_t size, MPI_Datatype block, MPI_Datatype *type)
{
    const int lengths[] = {(int)(size / BLOCK), (int)(size % BLOCK)};
    const MPI_Aint places[] = {0, (MPI_Aint)(size - size % BLOCK)};
    const MPI_Datatype types[] = {block, CKPT_LOWER(MPI_BYTE)};
    int code;

    CKPT_INVARIANT(size / BLOCK <= INT_MAX);
    CKPT_CALL(code, Type_create_struct, 2, lengths, places, types, type);
    return code;
}

int ckpt_bytes_describe(size_t size, struct ckpt_bytes *bytes)
{
    MPI_Datatype block;
    int code, ignored;

    *bytes = (struct ckpt_bytes){.count = (int)size, .type = CKPT_LOWER(MPI_BYTE)};
    if (size <= INT_MAX) {
        return MPI_SUCCESS;
    }
    bytes->count = 1;
    CKPT_CALL(code, Type_contiguous, (int)BLOCK, CKPT_LOWER(MPI_BYTE), &block);
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = join(size, block, &bytes->type);
    CKPT_CALL(ignored, Type_free, &block);
    (void)ignored; /* it was just made */
    if (code != MPI_SUCCESS) {
        return code;
    }
    CKPT_CALL(code, Type_commit, &bytes->type);
    bytes->is_made = 1;
    if (code != MPI_SUCCESS) {
        ckpt_bytes_free(bytes);
    }
    return code;
}

void ckpt_bytes_free(struct ckpt_bytes *bytes)
{
    int ignored;

    if (bytes->is_made) {
        CKPT_CALL(ignored, Type_free, &bytes->type);
        (void)ignored; /* a failure only leaks memory */
        bytes->is_made = 0;
    }
}
