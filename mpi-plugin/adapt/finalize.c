/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * finalize.c - the end of MPI (MPI 3.1, section 8.7).
 */
#include "adapt/constants.h"
#include "lower/host/host_exit.h"

#include <mpi.h>

/* Context: normal (lower half). */
int adapt_Finalize(void)
{
    int code = PMPI_Finalize();

    ckpt_host_exit_run();
    return adapt_code(code);
}
