/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ends.c HOW - rank 1 ends as HOW says: "killed", "exit", "abort", "finalized" (with a nonzero
 * code) or "unfinalized". The others wait until the launcher ends them.
 */
#include "selfcheck.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(const char *how)
{
    if (strcmp(how, "killed") == 0) {
        raise(SIGKILL);
    } else if (strcmp(how, "exit") == 0) {
        exit(3);
    } else if (strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    } else {
        CHECK(strcmp(how, "unfinalized") == 0);
        exit(0);
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc == 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "finalized") == 0) {
        MPI_Finalize();
        return rank == 1 ? 4 : 0;
    }
    if (rank == 1) {
        end(argv[1]);
    }
    for (;;) {
        pause();
    }
}
