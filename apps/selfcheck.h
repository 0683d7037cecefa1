/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selfcheck.h - code that the self-checking MPI programs share.
 *
 * A wrong result ends the whole job at once. Data comes from generator.h, so each rank can compute
 * the data that any other rank has sent.
 */
#ifndef SELFCHECK_H
#define SELFCHECK_H

#include "generator.h"
#include "may_end.h"

#include <mpi.h>

#include <inttypes.h>
#include <stdio.h>

/* Ends the job with a message unless the condition holds. */
#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, \
                    #condition);                                             \
            MPI_Abort(MPI_COMM_WORLD, 3);                                    \
        }                                                                    \
    } while (0)

/* Whether the job may end: see may_end.h. Collective over MPI_COMM_WORLD. */
static inline int job_may_end(void)
{
    int may = may_end();

    MPI_Bcast(&may, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return may;
}

/* Whether there is another step: fewer than `steps` are done, or the stop file (NULL: none) does
 * not exist. Collective over MPI_COMM_WORLD if there is a stop file: rank 0 looks. */
static inline int has_another_step(uint64_t step, long steps, const char *stop_file)
{
    int more = steps > 0 && step < (uint64_t)steps;

    if (stop_file != NULL) {
        more = more || access(stop_file, F_OK) != 0;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return more;
}

/* Returns when the job may end. Collective over MPI_COMM_WORLD. */
static inline void wait_for_end_of_job(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        wait_to_end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Computes the job's answer from each rank's sum; rank 0 prints it when the job may end. */
static inline void print_answer(uint64_t sum)
{
    uint64_t answer;
    int rank;

    wait_for_end_of_job();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&sum, &answer, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("OK %016" PRIx64 "\n", answer);
        fflush(stdout);
    }
}

#endif
