/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handles_at_once.c - threads that pass handles to MPI nearly all the time, so that a checkpoint
 * finds them at every place of such a call, also where they wait for each other. After a restart
 * the library's own handles differ.
 */
#include "probes/probe.h"

#include <pthread.h>

#define COUNT 4

static volatile int finished;

/* Calls in which only this thread takes part. */
static void *alone(void *communicator)
{
    MPI_Comm self = *(MPI_Comm *)communicator;
    MPI_Datatype pair;

    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    while (!finished) {
        int numbers[COUNT] = {1, 2, 3, 4}, count = 0;
        MPI_T_pvar_session session;
        MPI_T_cvar_handle variable;

        MPI_Type_commit(&pair);
        MPI_Sendrecv_replace(numbers, 1, pair, 0, 7, 0, 7, self,
                             MPI_STATUS_IGNORE);
        CHECK(numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3);
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_session_free(&session);
        CHECK(MPI_T_cvar_handle_alloc(0, NULL, &variable, &count) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_handle_free(&variable) == MPI_SUCCESS);
    }
    MPI_Type_free(&pair);
    return NULL;
}

/* Collectives of two ranks, one after the other. */
static void *together(void *communicator)
{
    MPI_Comm comm = *(MPI_Comm *)communicator;
    int go_on = 1, mine;

    while (go_on) {
        int periodic = 0, rank = -1;
        MPI_Comm line;

        MPI_Cart_create(comm, 1, &probe_size, &periodic, 0, &line);
        MPI_Comm_rank(line, &rank);
        CHECK(rank == probe_rank);
        MPI_Comm_free(&line);
        mine = !finished;
        MPI_Allreduce(&mine, &go_on, 1, MPI_INT, MPI_MAX, comm);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COUNT];
    pthread_t threads[COUNT];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    probe_begin_initialized(argc, argv, 2);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < COUNT; i++) {
        MPI_Comm_dup(i % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, &comms[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK(pthread_create(&threads[i], NULL, i % 2 ? together : alone,
                             &comms[i]) == 0);
    }
    probe_gate();
    finished = 1;
    for (int i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
    MPI_T_finalize();
    return probe_end();
}
