/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_main_ends.c - the main thread ends with pthread_exit, and as it is the
 * last one, so does the process.
 */
#include "probe.h"

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
