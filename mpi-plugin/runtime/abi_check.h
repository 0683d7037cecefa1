/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi_check.h - detect programs whose MPI the stand-in cannot replace, and refuse
 * them before MPI begins.
 */
#ifndef CKPT_ABI_CHECK_H
#define CKPT_ABI_CHECK_H

#include "ckpt/failure.h"

/* Returns -ENOTSUP, with the library in the failure, for a program compiled for
 * another MPI: its handles and constants differ, so it must not use ours. Else
 * returns 0. Normal context. */
int ckpt_check_mpi_abi(struct ckpt_failure *failure);

/* caller: the return address of MPI_Init. Returns -ENOTSUP if the program calls
 * libmpi_mpifh, else 0. Those functions read objects whose layout ours do not
 * have. A program reaches them by the only names that ours lack
 * (fortran/fortran.h). Normal context. */
int ckpt_check_fortran_abi(const void *caller, struct ckpt_failure *failure);

#endif
