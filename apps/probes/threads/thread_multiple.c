/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_multiple.c - MPI_Init_thread and MPI_Query_thread return the same
 * level.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    int provided = -1, seen = -1, is_main = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    probe_begin_initialized(argc, argv, 2);
    probe_gate();
    MPI_Query_thread(&seen);
    CHECK(seen == provided);
    MPI_Is_thread_main(&is_main);
    CHECK(is_main);
    return probe_end();
}
