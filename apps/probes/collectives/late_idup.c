/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_idup.c - an MPI_Comm_idup that one rank begins and goes on from before
 * the other begins it; and a second one begun by both.
 */
#include "probes/probe.h"

static MPI_Comm grid, twins[2];
static MPI_Request requests[2];
static int keyval;

static void begin(int first, int last)
{
    for (int i = first; i <= last; i++) {
        MPI_Comm_idup(i == 1 ? grid : MPI_COMM_WORLD, &twins[i], &requests[i]);
    }
}

static void use(MPI_Comm twin)
{
    int other = 1 - probe_rank, number = probe_rank, sum;

    MPI_Sendrecv_replace(&number, 1, MPI_INT, other, 1, other, 1, twin,
                         MPI_STATUS_IGNORE);
    CHECK(number == other);
    MPI_Allreduce(&probe_rank, &sum, 1, MPI_INT, MPI_SUM, twin);
    CHECK(sum == 1);
}

static void check_contents(MPI_Comm twin)
{
    int kind, flag, *value;

    MPI_Topo_test(twin, &kind);
    CHECK(kind == MPI_CART);
    MPI_Comm_get_attr(twin, keyval, &value, &flag);
    CHECK(flag && value == &keyval);
}

int main(int argc, char **argv)
{
    const int dims[] = {2}, periods[] = {0};

    probe_begin(argc, argv, 2);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval,
                           NULL);
    MPI_Comm_set_attr(grid, keyval, &keyval);
    begin(0, 0);
    if (probe_rank == 0) {
        begin(1, 1);
        MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
        /* This needs messages that follow the other's call. */
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    probe_gate();
    if (probe_rank == 1) {
        begin(1, 1);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_contents(twins[1]);
    for (int i = 0; i < 2; i++) {
        use(twins[i]);
        MPI_Comm_free(&twins[i]);
    }
    MPI_Comm_free(&grid);
    MPI_Comm_free_keyval(&keyval);
    return probe_end();
}
