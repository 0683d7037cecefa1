/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drained_strided.c - a message in flight is received with a strided type.
 */
#include "probes/probe.h"

#define COUNT  100
#define STRIDE 4

int main(int argc, char **argv)
{
    MPI_Datatype strided;
    int numbers[COUNT * STRIDE] = {0};

    probe_begin(argc, argv, 2);
    MPI_Type_vector(COUNT, 1, STRIDE, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    if (probe_rank == 1) {
        for (int i = 0; i < COUNT; i++) {
            numbers[i] = i * i;
        }
        MPI_Send(numbers, COUNT, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    probe_gate_together();
    if (probe_rank == 0) {
        MPI_Recv(numbers, 1, strided, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT * STRIDE; i++) {
            int expected = i % STRIDE == 0 ? i / STRIDE * (i / STRIDE) : 0;

            CHECK(numbers[i] == expected);
        }
    }
    MPI_Type_free(&strided);
    return probe_end();
}
