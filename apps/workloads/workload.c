/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload.c - sizes from the machine's memory, and progress.
 */
#include "workload.h"

#include <time.h>
#include <unistd.h>

#define SHARE     16 /* of the machine's memory: one part of so many */
#define LINE_NS   100000000
#define SECOND_NS 1000000000

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
    static int64_t printed;
    struct timespec now;
    int64_t ns;

    if (rank != 0) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
    if (printed == 0 || ns - printed >= LINE_NS) {
        printed = ns;
        printf("step %ld\n", step);
        fflush(stdout);
    }
}
