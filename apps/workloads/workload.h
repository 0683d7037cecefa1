/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload.h - code that the MPI programs of the dissertation's chapter 4
 * share; workload_module.F90 has it for those in Fortran.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "selfcheck.h"

/* Returns the default number of bytes of a rank's data: this rank's share of a
 * sixteenth of the machine's memory. Collective over MPI_COMM_WORLD. */
int64_t workload_default_bytes(void);

/* Returns argument `index` in MiB as bytes, or the default: then collective as
 * above. */
size_t bytes_argument(int argc, char **argv, int index);

/* Returns a vector of `count` zeros, which the caller frees; ends the job if
 * memory is short. */
double *zeros(long count);

/* Rank 0 prints "step N", but at most once in a tenth of a second. */
void show_step(int rank, long step);

#endif
