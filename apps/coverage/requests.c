/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests.c - persistent and generalized requests, completion, cancelling, and
 * statuses. At the gate persistent requests are started, and a receive and a
 * generalized request are pending.
 */
#include "coverage.h"

#define MODES 4

static int out[MODES], in[MODES];
static MPI_Request persistent[2 * MODES]; /* receives, then sends */
static MPI_Request general, unwanted, pending;
static MPI_Fint pending_number;
static int late = -1, general_state;

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int discard(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* Both ranks start the receives first: the ready send requires it. */
static void start_all(void)
{
    for (int i = 0; i < MODES; i++) {
        out[i] = 10 * i + this_rank;
        in[i] = -1;
    }
    MPI_Start(&persistent[0]);
    MPI_Startall(MODES - 1, persistent + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Startall(MODES, persistent + MODES);
}

static void check_received(void)
{
    for (int i = 0; i < MODES; i++) {
        CHECK(in[i] == 10 * i + OTHER);
        CHECK(persistent[i] != MPI_REQUEST_NULL);
    }
}

static void begin(void)
{
    MPI_Comm w = MPI_COMM_WORLD;

    coverage_buffer_attach();
    for (int i = 0; i < MODES; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, OTHER, 20 + i, w, &persistent[i]);
    }
    MPI_Send_init(&out[0], 1, MPI_INT, OTHER, 20, w, &persistent[MODES]);
    MPI_Bsend_init(&out[1], 1, MPI_INT, OTHER, 21, w, &persistent[MODES + 1]);
    MPI_Ssend_init(&out[2], 1, MPI_INT, OTHER, 22, w, &persistent[MODES + 2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, OTHER, 23, w, &persistent[MODES + 3]);
    start_all();
    general_state = 6;
    MPI_Grequest_start(query, discard, cancel, &general_state, &general);
    MPI_Irecv(&late, 1, MPI_INT, OTHER, 30, w, &unwanted);
    MPI_Irecv(&late, 1, MPI_INT, OTHER, 31, w, &pending);
    pending_number = MPI_Request_c2f(pending);
    CHECK(MPI_Request_f2c(pending_number) == pending);
}

/* One round for each function that completes several requests. */
static void complete_all(void)
{
    MPI_Status statuses[2 * MODES];
    int indices[2 * MODES], index = -1, done = 0, flag = 0;

    MPI_Waitall(2 * MODES, persistent, statuses);
    check_received();
    start_all();
    while (!flag) {
        MPI_Testall(2 * MODES, persistent, &flag, statuses);
    }
    check_received();
    start_all();
    for (int left = 2 * MODES; left > 0; left -= done) {
        MPI_Waitsome(2 * MODES, persistent, &done, indices, statuses);
        CHECK(done >= 1 && indices[0] >= 0);
    }
    check_received();
    start_all();
    for (int left = 2 * MODES; left > 0; left -= done) {
        MPI_Testsome(2 * MODES, persistent, &done, indices, statuses);
    }
    check_received();
    start_all();
    MPI_Waitany(MODES, persistent, &index, statuses);
    CHECK(index >= 0 && in[index] == 10 * index + OTHER);
    for (int left = 2 * MODES - 1; left > 0; left -= flag) {
        MPI_Testany(2 * MODES, persistent, &index, &flag, statuses);
    }
    check_received();
}

static void complete_others(void)
{
    MPI_Status status;
    int flag = 0, count = -1;

    MPI_Cancel(&unwanted);
    MPI_Wait(&unwanted, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Request_get_status(pending, &flag, &status);
    CHECK(!flag && late == -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, OTHER, 31, MPI_COMM_WORLD);
    for (flag = 0; !flag;) {
        MPI_Test(&pending, &flag, &status);
    }
    CHECK(late == OTHER && pending == MPI_REQUEST_NULL);
    late = -1;
    MPI_Test(&general, &flag, &status);
    CHECK(!flag);
    MPI_Grequest_complete(general);
    MPI_Wait(&general, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 6 && general_state == -1);
}

static void check_statuses(void)
{
    MPI_Fint fortran[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_Status status = {.MPI_SOURCE = 3, .MPI_TAG = 4}, back = status;
    MPI_Count count = -1;

    MPI_Status_set_elements_x(&status, MPI_DOUBLE, 5);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Status_c2f(&status, fortran);
    MPI_Status_f2c(fortran, &back);
    MPI_Get_elements_x(&back, MPI_DOUBLE, &count);
    CHECK(count == 5 && back.MPI_SOURCE == 3 && back.MPI_TAG == 4);
}

static void end(void)
{
    complete_all();
    complete_others();
    check_statuses();
    for (int i = 0; i < 2 * MODES; i++) {
        MPI_Request_free(&persistent[i]);
        CHECK(persistent[i] == MPI_REQUEST_NULL);
    }
    coverage_buffer_detach();
}

const struct section requests_section = {"requests", begin, end};
