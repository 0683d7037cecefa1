/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_main_ends.c - the main thread ends with pthread_exit. It is the last
 * thread, so the process ends, too.
 */
#include "probes/probe.h"

#include <pthread.h>

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    probe_begin_initialized(argc, argv, 2);
    probe_gate();
    (void)probe_end();
    pthread_exit(NULL);
}
