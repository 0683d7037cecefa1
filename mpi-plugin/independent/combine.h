/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * combine.h - predefined operations of accumulates (MPI 3.1, section 11.3.4).
 */
#ifndef CKPT_INDEPENDENT_COMBINE_H
#define CKPT_INDEPENDENT_COMBINE_H

#include "independent/volatile_log.h"

#include <mpi.h>

#pragma GCC visibility push(hidden)

/*
 * Puts into a record, in the place of its operands, what they make of the memory that it
 * is for. element: what operands and memory consist of, predefined; both and op are the
 * application's. Between begin and end. Returns an MPI error code.
 */
int ckpt_combine(struct ckpt_log_record *record, const char *memory, MPI_Op op,
                 MPI_Datatype element);

#pragma GCC visibility pop

#endif
