/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload.c - sizes from the machine's memory, and progress.
 */
#include "workload.h"

#include "step_line.h"

#include <unistd.h>

#define SHARE 16 /* one part in so many of the machine's memory is used */

int64_t workload_default_bytes(void)
{
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    MPI_Comm node;
    int ranks;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    return memory / SHARE / ranks;
}

size_t bytes_argument(int argc, char **argv, int index)
{
    long mebibytes = number_argument(argc, argv, index, 0);

    return mebibytes > 0 ? (size_t)mebibytes << 20
                         : (size_t)workload_default_bytes();
}

double *zeros(long count)
{
    double *values = calloc((size_t)count, sizeof *values);

    CHECK(values != NULL);
    return values;
}

void show_step(int rank, long step)
{
    if (rank == 0) {
        print_step(step);
    }
}
