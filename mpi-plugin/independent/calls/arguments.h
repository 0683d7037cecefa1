/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.h - the checked memory ranges of an operation on a window, at the origin and at
 * the target.
 */
#ifndef CKPT_INDEPENDENT_ARGUMENTS_H
#define CKPT_INDEPENDENT_ARGUMENTS_H

#include "independent/log/layout.h"
#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* Not an MPI error code: the arguments are wrong, and nothing has been done. The lower half
 * can then find the error. */
#define CKPT_ACCESS_WRONG (-1)

struct ckpt_transfer {
    struct ckpt_layout origin;
    struct ckpt_layout target;
    /* offset of the layout's address 0 from the base of the target's memory */
    int64_t start;
    MPI_Datatype element; /* the application's handle of its first predefined type */
};

/*
 * Checks the arguments of an operation, and computes its memory ranges. The caller calls
 * ckpt_transfer_close() in any case. Between begin and end. Returns an MPI error code, or
 * CKPT_ACCESS_WRONG.
 */
int ckpt_transfer_open(struct ckpt_transfer *transfer, int origin_count,
                       MPI_Datatype origin_type, int target, MPI_Aint place,
                       int target_count, MPI_Datatype target_type, MPI_Win win);
void ckpt_transfer_close(struct ckpt_transfer *transfer);

int ckpt_is_type(MPI_Datatype type);

/* Returns whether accumulates may use the operation. */
int ckpt_is_operation(MPI_Op op);

#pragma GCC visibility pop

#endif
