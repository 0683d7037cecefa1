/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compute.c [PHASES [MILLIONS]] - long computation without any MPI call.
 *
 * In each phase one rank computes while the others wait for it: in a receive in
 * even phases, in a barrier in odd ones.
 */
#include "selfcheck.h"

static uint64_t compute(uint64_t start, long millions)
{
    uint64_t value = start;

    for (long i = 0; i < millions * 1000000; i++) {
        value = mix(value);
    }
    return value;
}

/* The worker sends its result to each other rank. */
static uint64_t share(uint64_t value, int worker, int rank, int size)
{
    if (rank != worker) {
        MPI_Recv(&value, 1, MPI_UINT64_T, worker, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        return value;
    }
    for (int other = 0; other < size; other++) {
        if (other != worker) {
            MPI_Send(&value, 1, MPI_UINT64_T, other, 1, MPI_COMM_WORLD);
        }
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t value = 1;
    long phases, millions;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    phases = number_argument(argc, argv, 1, 4);
    millions = number_argument(argc, argv, 2, 500);

    for (long phase = 0; phase < phases; phase++) {
        int worker = (int)(phase / 2 % size);

        if (rank == 0) {
            printf("phase %ld\n", phase);
            fflush(stdout);
        }
        if (rank == worker) {
            value = compute(value, millions);
        }
        if (phase % 2 == 0) {
            value = share(value, worker, rank, size);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Bcast(&value, 1, MPI_UINT64_T, worker, MPI_COMM_WORLD);
        }
    }

    print_answer(value);
    MPI_Finalize();
    return 0;
}
