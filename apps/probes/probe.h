/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.h - frame of a feature probe: set up, wait at a gate, use, check.
 *
 * A probe is a small MPI program for one feature. It brings the feature into
 * the state of interest, and then waits at the gate until the file named by its
 * first argument exists. Tests take checkpoints and restart exactly there. Rank
 * 0 prints READY and then a line now and then, which shows that it runs. An
 * error after the gate ends the job.
 */
#ifndef PROBE_H
#define PROBE_H

#include "selfcheck.h"

#include <unistd.h>

static int probe_rank, probe_size;
static const char *probe_gate_file;

/* For ranks that have initialised MPI themselves. */
static inline void probe_begin_initialized(int argc, char **argv, int ranks)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &probe_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &probe_size);
    CHECK(argc >= 2);
    CHECK(probe_size == ranks);
    probe_gate_file = argv[1];
}

/* Calls MPI_Init, for a probe that needs this number of ranks. */
static inline void probe_begin(int argc, char **argv, int ranks)
{
    MPI_Init(&argc, &argv);
    probe_begin_initialized(argc, argv, ranks);
}

/* Rank 0 shows that it runs: at the gate, and now and then. */
static inline void probe_show(long tick)
{
    if (probe_rank == 0 && tick == 0) {
        printf("READY\n");
    } else if (probe_rank == 0 && tick % 5 == 0) {
        printf("waiting %ld\n", tick);
    }
    fflush(stdout);
}

/* Waits, without MPI, until the gate is open. */
static inline void probe_gate(void)
{
    long tick = 0;

    probe_show(tick);
    while (access(probe_gate_file, F_OK) != 0) {
        usleep(20000);
        probe_show(++tick);
    }
}

/* For a probe that keeps working while it waits: returns 1 on all ranks until
 * the gate is open. */
static inline int probe_gate_step(void)
{
    static long tick;
    int shut;

    probe_show(tick++);
    shut = access(probe_gate_file, F_OK) != 0;
    MPI_Bcast(&shut, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return shut;
}

/* Waits at the gate with all ranks at once: each has completed its earlier
 * calls. */
static inline void probe_gate_together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    probe_gate();
}

/* Prints OK when all ranks have come this far, and ends MPI. */
static inline int probe_end(void)
{
    print_answer((uint64_t)probe_rank + 1);
    MPI_Finalize();
    return 0;
}

#endif
