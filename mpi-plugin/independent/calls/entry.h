/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry.h - the operations of access.h under MPI's names and with MPI's arguments, for the
 * generated wrappers. Operations with a request are complete when they return.
 */
#ifndef CKPT_INDEPENDENT_ENTRY_H
#define CKPT_INDEPENDENT_ENTRY_H

#include "independent/calls/access.h"

#define ckpt_independent_Put              ckpt_access_put
#define ckpt_independent_Get              ckpt_access_get
#define ckpt_independent_Accumulate       ckpt_access_accumulate
#define ckpt_independent_Get_accumulate   ckpt_access_get_accumulate
#define ckpt_independent_Compare_and_swap ckpt_access_compare_and_swap

#pragma GCC visibility push(hidden)

int ckpt_independent_Fetch_and_op(const void *origin, void *result, MPI_Datatype type,
                                  int target, MPI_Aint place, MPI_Op op, MPI_Win win);

int ckpt_independent_Rput(const void *origin, int origin_count, MPI_Datatype origin_type,
                          int target, MPI_Aint place, int target_count,
                          MPI_Datatype target_type, MPI_Win win, MPI_Request *request);

int ckpt_independent_Rget(void *origin, int origin_count, MPI_Datatype origin_type,
                          int target, MPI_Aint place, int target_count,
                          MPI_Datatype target_type, MPI_Win win, MPI_Request *request);

int ckpt_independent_Raccumulate(const void *origin, int origin_count,
                                 MPI_Datatype origin_type, int target, MPI_Aint place,
                                 int target_count, MPI_Datatype target_type, MPI_Op op,
                                 MPI_Win win, MPI_Request *request);

int ckpt_independent_Rget_accumulate(const void *origin, int origin_count,
                                     MPI_Datatype origin_type, void *result,
                                     int result_count, MPI_Datatype result_type, int target,
                                     MPI_Aint place, int target_count,
                                     MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                     MPI_Request *request);

#pragma GCC visibility pop

#endif
