/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outside.c GATE LAST_GATE - a program before MPI_Init and after MPI_Finalize.
 *
 * Waits for a file before MPI_Init, and for another one after MPI_Finalize.
 */
#include "selfcheck.h"

#include <unistd.h>

static void wait_for(const char *file)
{
    while (access(file, F_OK) != 0) {
        usleep(10000);
    }
}

static void say(const char *text)
{
    puts(text);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rank;

    if (argc != 3) {
        return 2;
    }
    say("before MPI_Init");
    wait_for(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    print_answer((uint64_t)rank);
    MPI_Finalize();
    say("after MPI_Finalize");
    wait_for(argv[2]);
    return 0;
}
