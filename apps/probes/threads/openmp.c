/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * openmp.c - MPI and OpenMP: at the checkpoint, the threads of a parallel region compute and wait
 * for each other. Either only the first thread calls MPI (MPI_THREAD_FUNNELED), or all threads do
 * so in turn (MPI_THREAD_SERIALIZED).
 */
#include "probes/probe.h"

#include <omp.h>

#define THREADS 4
#define WORDS   3000
#define PAUSE   2000 /* microseconds per step, for small machines */

static uint64_t outgoing[THREADS][WORDS], incoming[THREADS][WORDS];

/* Returns the result of a thread in a step, the same before and after a checkpoint. */
static uint64_t compute(int thread, long step)
{
    uint64_t value = mix4((uint64_t)step, (uint64_t)thread, 0, 0);

    for (int i = 0; i < 20000; i++) {
        value = mix(value);
    }
    return value;
}

static void exchange(int thread, long step)
{
    const int peer = 1 - probe_rank;
    const uint64_t key = (uint64_t)step * THREADS + (uint64_t)thread;

    fill(outgoing[thread], sizeof outgoing[thread], key * 2 + (uint64_t)probe_rank);
    MPI_Sendrecv(outgoing[thread], WORDS, MPI_UINT64_T, peer, thread,
                 incoming[thread], WORDS, MPI_UINT64_T, peer, thread,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(is_filled(incoming[thread], sizeof incoming[thread],
                    key * 2 + (uint64_t)peer));
}

/* The first thread calls MPI while the others compute, or spin. */
static void funneled(void)
{
    uint64_t sum = 0;
    long step = 0;
    int shut = 1;

#pragma omp parallel num_threads(THREADS)
    {
        const int thread = omp_get_thread_num();

        CHECK(omp_get_num_threads() == THREADS);
        while (shut) {
            uint64_t value = compute(thread, step);

#pragma omp barrier
#pragma omp atomic
            sum += value;
#pragma omp master
            {
                exchange(0, step);
                shut = probe_gate_step();
                step++;
                usleep(PAUSE);
            }
#pragma omp barrier
        }
    }
    for (long i = 0; i < step; i++) {
        for (int thread = 0; thread < THREADS; thread++) {
            sum -= compute(thread, i);
        }
    }
    CHECK(sum == 0);
}

/* All threads call MPI, one at a time. */
static void serialized(void)
{
    for (long step = 0; step < 10; step++) {
#pragma omp parallel for ordered num_threads(THREADS) schedule(static, 1)
        for (int i = 0; i < THREADS; i++) {
#pragma omp ordered
            exchange(i, step);
        }
    }
}

int main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    CHECK(level >= MPI_THREAD_SERIALIZED);
    probe_begin_initialized(argc, argv, 2);
    serialized();
    funneled();
    serialized();
    return probe_end();
}
