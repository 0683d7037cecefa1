/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operations.c - user-defined operations, used by reduction collectives.
 */
#include "coverage.h"

static MPI_Op last, largest;
static MPI_Fint number;

/* Not commutative: keeps the right operand. */
static void keep_last(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count;
    CHECK(*type == MPI_INT);
}

static void keep_largest(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *from = in;
    int *to = inout;

    CHECK(*type == MPI_INT);
    for (int i = 0; i < *count; i++) {
        to[i] = from[i] > to[i] ? from[i] : to[i];
    }
}

static void begin(void)
{
    MPI_Op_create(keep_last, 0, &last);
    MPI_Op_create(keep_largest, 1, &largest);
    number = MPI_Op_c2f(largest);
}

static void check_blocking(void)
{
    const int counts[RANKS] = {1, 1};
    int two[RANKS] = {this_rank, 10 + this_rank};
    int rank = this_rank, result = -1;

    MPI_Reduce(&rank, &result, 1, MPI_INT, largest, 1, MPI_COMM_WORLD);
    CHECK(this_rank != 1 || result == 1);
    MPI_Allreduce(&rank, &result, 1, MPI_INT, last, MPI_COMM_WORLD);
    CHECK(result == RANKS - 1);
    MPI_Scan(&rank, &result, 1, MPI_INT, largest, MPI_COMM_WORLD);
    CHECK(result == this_rank);
    MPI_Exscan(&rank, &result, 1, MPI_INT, largest, MPI_COMM_WORLD);
    CHECK(this_rank == 0 || result == 0);
    MPI_Reduce_scatter(two, &result, counts, MPI_INT, largest, MPI_COMM_WORLD);
    CHECK(result == 1 + 10 * this_rank);
    MPI_Reduce_scatter_block(two, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(result == 1 + 20 * this_rank);
}

static void end(void)
{
    int two[2] = {3, 9}, inout[2] = {5, 7}, flag = -1;

    CHECK(MPI_Op_f2c(number) == largest);
    MPI_Op_commutative(last, &flag);
    CHECK(flag == 0);
    MPI_Op_commutative(largest, &flag);
    CHECK(flag == 1);
    MPI_Reduce_local(two, inout, 2, MPI_INT, largest);
    CHECK(inout[0] == 5 && inout[1] == 9);
    check_blocking();
    MPI_Op_free(&last);
    MPI_Op_free(&largest);
    CHECK(last == MPI_OP_NULL && largest == MPI_OP_NULL);
}

const struct section operations_section = {"operations", begin, end};
