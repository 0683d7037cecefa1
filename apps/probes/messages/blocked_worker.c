/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocked_worker.c - a thread other than the first calls MPI (MPI_THREAD_SERIALIZED), and is
 * blocked in a collective that other ranks have not entered. The checkpoint signal interrupts the
 * first thread, which is outside of MPI.
 */
#include "probes/probe.h"

#include <pthread.h>

static void *work(void *unused)
{
    int mine = 10 + probe_rank, sum;

    if (probe_rank == 0) {
        probe_gate();
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 21);
    MPI_Barrier(MPI_COMM_WORLD);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t worker;
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    CHECK(level >= MPI_THREAD_SERIALIZED);
    probe_begin_initialized(argc, argv, 2);
    CHECK(pthread_create(&worker, NULL, work, NULL) == 0);
    CHECK(pthread_join(worker, NULL) == 0);
    return probe_end();
}
