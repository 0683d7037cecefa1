/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign.h - programs whose MPI the stand-in cannot be: they are refused
 * before MPI begins.
 */
#ifndef CKPT_FOREIGN_H
#define CKPT_FOREIGN_H

#include "ckpt/failure.h"

/* A program compiled for another MPI has other handles and constants: it must
 * not go on with ours. 0, or -ENOTSUP with the library in the failure. Normal
 * context. */
int ckpt_foreign_mpi(struct ckpt_failure *failure);

/* caller: the return address of MPI_Init. The functions of libmpi_mpifh look
 * into objects that ours are not; they are reached under the only names that
 * ours do not have (fortran/fortran.h). 0 or -ENOTSUP. Normal context. */
int ckpt_foreign_fortran(const void *caller, struct ckpt_failure *failure);

#endif
