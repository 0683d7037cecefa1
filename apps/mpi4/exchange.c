/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - MPI_Isendrecv and MPI_Isendrecv_replace: one rank has called them and the other has
 * not; some messages are under way and some are not.
 */
#include "probes/probe.h"

#define LONG 100000

static int small_out, small_in, replaced[3];
static int *big_out, *big_in;
static MPI_Request requests[3];

static void begin(void)
{
    const int other = 1 - probe_rank;

    small_out = 10 + probe_rank;
    MPI_Isendrecv(&small_out, 1, MPI_INT, other, 1, &small_in, 1, MPI_INT, other,
                  1, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < LONG; i++) {
        big_out[i] = i * (probe_rank + 1);
    }
    MPI_Isendrecv(big_out, LONG, MPI_INT, other, 2, big_in, LONG, MPI_INT,
                  MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        replaced[i] = 100 * probe_rank + i;
    }
    MPI_Isendrecv_replace(replaced, 3, MPI_INT, other, 3, other, 3,
                          MPI_COMM_WORLD, &requests[2]);
}

static void check(const MPI_Status statuses[])
{
    const int other = 1 - probe_rank;
    int count;

    CHECK(small_in == 10 + other);
    for (int i = 0; i < LONG; i++) {
        CHECK(big_in[i] == i * (other + 1));
    }
    for (int i = 0; i < 3; i++) {
        CHECK(replaced[i] == 100 * other + i);
        CHECK(statuses[i].MPI_SOURCE == other && statuses[i].MPI_TAG == i + 1);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    CHECK(count == LONG);
}

/* Exchanges with MPI_PROC_NULL. */
static void check_null(void)
{
    MPI_Request request;
    MPI_Status status;
    int value = 5;

    MPI_Isendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1,
                          MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(value == 5 && status.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char **argv)
{
    MPI_Status statuses[3];
    int index, flag = 0;

    probe_begin(argc, argv, 2);
    big_out = calloc(LONG, sizeof(int));
    big_in = calloc(LONG, sizeof(int));
    begin();
    MPI_Waitall(3, requests, statuses);
    check(statuses);
    if (probe_rank == 0) {
        begin();
    }
    probe_gate();
    if (probe_rank == 1) {
        begin();
    }
    for (int i = 0; i < 2; i++) {
        MPI_Status status;

        MPI_Waitany(3, requests, &index, &status);
        CHECK(index >= 0 && index < 3);
        statuses[index] = status;
    }
    for (index = 0; index < 3 && requests[index] == MPI_REQUEST_NULL; index++) {
    }
    while (!flag) {
        MPI_Test(&requests[index], &flag, &statuses[index]);
    }
    check(statuses);
    check_null();
    return probe_end();
}
