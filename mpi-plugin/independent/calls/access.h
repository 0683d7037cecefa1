/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * access.h - operations on the memory of windows with independent checkpoints (MPI 3.1,
 * section 11.3). The arguments are those of the MPI functions. They return MPI error codes,
 * or CKPT_ACCESS_WRONG.
 */
#ifndef CKPT_INDEPENDENT_ACCESS_H
#define CKPT_INDEPENDENT_ACCESS_H

#include "independent/calls/arguments.h"

#pragma GCC visibility push(hidden)

/* Context of all: between begin and end, which they may leave and enter again. */

int ckpt_access_put(const void *origin, int origin_count, MPI_Datatype origin_type,
                    int target, MPI_Aint place, int target_count, MPI_Datatype target_type,
                    MPI_Win win);

int ckpt_access_get(void *origin, int origin_count, MPI_Datatype origin_type, int target,
                    MPI_Aint place, int target_count, MPI_Datatype target_type, MPI_Win win);

int ckpt_access_accumulate(const void *origin, int origin_count, MPI_Datatype origin_type,
                           int target, MPI_Aint place, int target_count,
                           MPI_Datatype target_type, MPI_Op op, MPI_Win win);

/* Also implements MPI_Fetch_and_op. */
int ckpt_access_get_accumulate(const void *origin, int origin_count,
                               MPI_Datatype origin_type, void *result, int result_count,
                               MPI_Datatype result_type, int target, MPI_Aint place,
                               int target_count, MPI_Datatype target_type, MPI_Op op,
                               MPI_Win win);

int ckpt_access_compare_and_swap(const void *origin, const void *compare, void *result,
                                 MPI_Datatype type, int target, MPI_Aint place, MPI_Win win);

#pragma GCC visibility pop

#endif
