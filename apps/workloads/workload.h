/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload.h - what the MPI programs of the dissertation's chapter 4 share;
 * those in Fortran have it from workload_module.F90.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "selfcheck.h"

/* Bytes for a rank's data if nobody says how many: this rank's share of a
 * sixteenth of the machine's memory. Collective over MPI_COMM_WORLD. */
int64_t workload_default_bytes(void);

/* Argument `index` in MiB as bytes, or the default: then collective as above.
 */
size_t bytes_argument(int argc, char **argv, int index);

/* A vector of so many zeros, to be freed; ends the job if there is no memory.
 */
double *zeros(long count);

/* Rank 0 prints "step N", but at most once in a tenth of a second. */
void show_step(int rank, long step);

#endif
