/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.h - what an operation on a window is about: memory of the origin and of the
 * target, checked.
 */
#ifndef CKPT_INDEPENDENT_ARGUMENTS_H
#define CKPT_INDEPENDENT_ARGUMENTS_H

#include "independent/layout.h"
#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* No MPI error code: nothing has been done, and the arguments are not in order. What is
 * wrong with them the lower half can tell. */
#define CKPT_ACCESS_WRONG (-1)

struct ckpt_transfer {
    struct ckpt_layout origin;
    struct ckpt_layout target;
    int64_t start; /* bytes from the base of the target's memory to address 0 of its layout */
    MPI_Datatype element; /* the application's: the predefined type that comes first there */
};

/*
 * Checks the arguments of an operation, and finds what they mean. To be followed by
 * ckpt_transfer_close(), whatever comes of it. Between begin and end. Returns an MPI error
 * code, or CKPT_ACCESS_WRONG.
 */
int ckpt_transfer_open(struct ckpt_transfer *transfer, int origin_count,
                       MPI_Datatype origin_type, int target, MPI_Aint place,
                       int target_count, MPI_Datatype target_type, MPI_Win win);
void ckpt_transfer_close(struct ckpt_transfer *transfer);

int ckpt_is_type(MPI_Datatype type);

/* One that accumulates may use. */
int ckpt_is_operation(MPI_Op op);

#pragma GCC visibility pop

#endif
