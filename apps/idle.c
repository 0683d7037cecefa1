/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * idle.c STOP_FILE - idle ranks with little memory.
 *
 * They sleep outside of MPI until STOP_FILE exists. They show the cost of a
 * checkpoint with nothing to write.
 */
#include "selfcheck.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc == 2);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long tick = 0; access(argv[1], F_OK) != 0; tick++) {
        if (rank == 0) {
            printf("tick %ld\n", tick);
            fflush(stdout);
        }
        usleep(100000);
    }
    print_answer(1);
    MPI_Finalize();
    return 0;
}
