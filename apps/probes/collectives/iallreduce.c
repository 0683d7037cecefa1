/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iallreduce.c - MPI_Iallreduce that all ranks begin before the checkpoint, and
 * complete after it.
 */
#include "probes/probe.h"

#define COUNT 1000

int main(int argc, char **argv)
{
    static int in[COUNT], out[COUNT];
    MPI_Request request;

    probe_begin(argc, argv, 2);
    for (int i = 0; i < COUNT; i++) {
        in[i] = i * (probe_rank + 1);
    }
    MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    probe_gate();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++) {
        CHECK(out[i] == 3 * i);
    }
    MPI_Iallreduce(MPI_IN_PLACE, out, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out[7] == 21);
    return probe_end();
}
