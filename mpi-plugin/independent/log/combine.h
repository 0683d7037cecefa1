/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * combine.h - predefined operations of accumulates (MPI 3.1, section 11.3.4).
 */
#ifndef CKPT_INDEPENDENT_COMBINE_H
#define CKPT_INDEPENDENT_COMBINE_H

#include "independent/log/volatile_log.h"

#include <mpi.h>

#pragma GCC visibility push(hidden)

/*
 * Replaces a record's operands by the result of combining them with the memory
 * of its target. element: the predefined type of operands and memory; element
 * and op are the application's handles. Between begin and end. Returns an MPI
 * error code.
 */
int ckpt_combine(struct ckpt_log_record *record, const char *memory, MPI_Op op,
                 MPI_Datatype element);

#pragma GCC visibility pop

#endif
