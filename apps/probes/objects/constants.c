/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * constants.c - values that each MPI library chooses, and with which a program was compiled: they
 * mean the same before and after a restart, also with another library.
 */
#include "probes/probe.h"

#include <stddef.h>

static int peer;

/* Returns the class of a code, which must be an error code. */
static int class_of(int code)
{
    int class = MPI_SUCCESS;

    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS);
    return class;
}

static void check_errors(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int value = 0, length;
    MPI_Group world, none;

    CHECK(class_of(MPI_Send(&value, -1, MPI_INT, peer, 0, MPI_COMM_WORLD)) ==
          MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD)) ==
          MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0,
                            MPI_COMM_WORLD)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, peer, -7, MPI_COMM_WORLD)) ==
          MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(&value, 1, MPI_DATATYPE_NULL, peer, 0,
                            MPI_COMM_WORLD)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, peer, 0, MPI_COMM_NULL)) ==
          MPI_ERR_COMM);
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD)) ==
          MPI_ERR_ROOT);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK(class_of(MPI_Group_incl(world, 1, &(int){99}, &none)) ==
          MPI_ERR_RANK);
    MPI_Group_free(&world);
    for (int class = MPI_ERR_BUFFER; class <= MPI_ERR_IN_STATUS; class ++) {
        CHECK(class_of(class) == class);
        CHECK(MPI_Error_string(class, text, &length) == MPI_SUCCESS);
        CHECK(length > 0 && length < MPI_MAX_ERROR_STRING);
        CHECK(strncmp(text, "MPI_", 4) == 0); /* Open MPI returns its name */
    }
}

/* Errors of single requests, and an error of a message. */
static void check_truncation(void)
{
    int pair[2] = {1, 2}, small = 0, fits[2] = {0, 0};
    MPI_Request request[4];
    MPI_Status status[4];
    int code;

    MPI_Irecv(&small, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(fits, 2, MPI_INT, peer, 2, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(pair, 2, MPI_INT, peer, 1, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(pair, 2, MPI_INT, peer, 2, MPI_COMM_WORLD, &request[3]);
    code = MPI_Waitall(4, request, status);
    CHECK(class_of(code) == MPI_ERR_IN_STATUS);
    CHECK(class_of(status[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    for (int i = 1; i < 4; i++) { /* the remaining ones */
        CHECK(status[i].MPI_ERROR == MPI_SUCCESS ||
              status[i].MPI_ERROR == MPI_ERR_PENDING);
    }
    MPI_Waitall(3, request + 1, MPI_STATUSES_IGNORE);
    CHECK(fits[1] == 2);
}

static void check_statuses(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0, two[2], flag, count;
    MPI_Datatype pair;
    MPI_Fint fortran[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_Status status, copy;

    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(status.MPI_TAG == MPI_ANY_TAG && count == 0);

    MPI_Test(&request, &flag, &status);
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK(status.MPI_TAG == MPI_ANY_TAG);

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(&value, 1, MPI_INT, peer, 6, two, 1, pair, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == 6);
    MPI_Get_count(&status, pair, &count);
    CHECK(count == MPI_UNDEFINED); /* half an element */
    MPI_Get_elements(&status, pair, &count);
    CHECK(count == 1);
    MPI_Type_free(&pair);
    MPI_Status_c2f(&status, fortran);
    MPI_Status_f2c(fortran, &copy);
    CHECK(copy.MPI_SOURCE == peer && copy.MPI_TAG == 6);

    MPI_Irecv(&value, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Status_set_elements(&status, MPI_INT, 12);
    MPI_Test_cancelled(&status, &flag);
    MPI_Get_elements(&status, MPI_INT, &count);
    CHECK(!flag && count == 12);
}

static void check_groups(void)
{
    MPI_Group world, self;
    MPI_Comm twin, other;
    int result, rank, from[2] = {1 - probe_rank, MPI_PROC_NULL}, to[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -probe_rank, &other);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, twin, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_compare(MPI_COMM_WORLD, other, &result);
    CHECK(result == MPI_SIMILAR);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Comm_free(&other);
    MPI_Comm_free(&twin);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Group_translate_ranks(world, 2, from, self, to);
    CHECK(to[0] == MPI_UNDEFINED && to[1] == MPI_PROC_NULL);
    MPI_Group_rank(MPI_GROUP_EMPTY, &rank);
    CHECK(rank == MPI_UNDEFINED);
    MPI_Group_free(&self);
    MPI_Group_free(&world);

    MPI_Comm_split(MPI_COMM_WORLD, probe_rank == 0 ? MPI_UNDEFINED : 1, 0,
                   &other);
    CHECK((other == MPI_COMM_NULL) == (probe_rank == 0));
    if (other != MPI_COMM_NULL) {
        MPI_Comm_free(&other);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &other);
    MPI_Comm_free(&other);
}

static void check_topologies(void)
{
    /* gcc takes this constant for an array. */
    int *volatile unweighted = MPI_UNWEIGHTED;
    int *volatile empty = MPI_WEIGHTS_EMPTY;
    MPI_Comm comm;
    int kind, low, high, in, out, weighted;
    int index[2] = {1, 2}, edges[2] = {1, 0};

    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &(int){2}, &(int){0}, 0, &comm);
    MPI_Topo_test(comm, &kind);
    MPI_Cart_shift(comm, 0, 1, &low, &high);
    CHECK(kind == MPI_CART);
    CHECK(low == (probe_rank == 0 ? MPI_PROC_NULL : 0));
    CHECK(high == (probe_rank == 0 ? 1 : MPI_PROC_NULL));
    MPI_Comm_free(&comm);

    MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &comm);
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_GRAPH);
    MPI_Comm_free(&comm);

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, unweighted, 1,
                                   &peer, unweighted, MPI_INFO_NULL, 0, &comm);
    MPI_Topo_test(comm, &kind);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(kind == MPI_DIST_GRAPH && in == 1 && out == 1 && !weighted);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, empty, 0, NULL,
                                   empty, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 0 && out == 0 && weighted);
    MPI_Comm_free(&comm);
}

static int combiner_of(MPI_Datatype type, int integers[], MPI_Datatype *first)
{
    int n_integers, n_addresses, n_types, combiner;
    MPI_Aint addresses[8];
    MPI_Datatype types[8];

    MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_get_contents(type, n_integers, n_addresses, n_types, integers,
                              addresses, types);
        *first = types[0];
    }
    return combiner;
}

static void check_datatypes(void)
{
    const int sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
    const int grid[2] = {2, 1};
    const int distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    int n[32], size;
    MPI_Datatype type, first;

    CHECK(combiner_of(MPI_DOUBLE, n, &first) == MPI_COMBINER_NAMED);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN,
                             MPI_INT, &type);
    CHECK(combiner_of(type, n, &first) == MPI_COMBINER_SUBARRAY);
    CHECK(n[0] == 2 && n[2] == 6 && n[6] == 2 && n[7] == MPI_ORDER_FORTRAN);
    CHECK(first == MPI_INT);
    MPI_Type_free(&type);

    MPI_Type_create_darray(2, probe_rank, 2, sizes, distributions, arguments,
                           grid, MPI_ORDER_C, MPI_DOUBLE, &type);
    CHECK(combiner_of(type, n, &first) == MPI_COMBINER_DARRAY);
    CHECK(n[5] == MPI_DISTRIBUTE_CYCLIC && n[6] == MPI_DISTRIBUTE_NONE);
    CHECK(n[7] == 2 && n[8] == MPI_DISTRIBUTE_DFLT_DARG);
    CHECK(n[11] == MPI_ORDER_C && first == MPI_DOUBLE);
    MPI_Type_size(type, &size);
    CHECK(size == 12 * (int)sizeof(double));
    MPI_Type_free(&type);

    MPI_Type_create_resized(MPI_CHAR, 0, 16, &type);
    CHECK(combiner_of(type, n, &first) == MPI_COMBINER_RESIZED);
    MPI_Type_free(&type);
    MPI_Type_dup(MPI_LONG, &type);
    CHECK(combiner_of(type, n, &first) == MPI_COMBINER_DUP && first == MPI_LONG);
    MPI_Type_free(&type);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, sizeof(double), &type);
    MPI_Type_size(type, &size);
    CHECK(size == sizeof(double));
}

static void check_sizes(void)
{
    const struct {
        MPI_Datatype type;
        size_t size;
    } table[] = {
        {MPI_CHAR, 1},
        {MPI_WCHAR, sizeof(wchar_t)},
        {MPI_SHORT, 2},
        {MPI_INT, 4},
        {MPI_UNSIGNED_LONG, 8},
        {MPI_LONG_LONG, 8},
        {MPI_FLOAT, 4},
        {MPI_DOUBLE, 8},
        {MPI_LONG_DOUBLE, sizeof(long double)},
        {MPI_INT8_T, 1},
        {MPI_UINT16_T, 2},
        {MPI_INT64_T, 8},
        {MPI_C_BOOL, 1},
        {MPI_C_DOUBLE_COMPLEX, 16},
        {MPI_AINT, sizeof(MPI_Aint)},
        {MPI_OFFSET, sizeof(MPI_Offset)},
        {MPI_COUNT, sizeof(MPI_Count)},
        {MPI_BYTE, 1},
        {MPI_2INT, 8},
        {MPI_DOUBLE_INT, 12},
        {MPI_SHORT_INT, 6},
        {MPI_INTEGER, 4},
        {MPI_DOUBLE_PRECISION, 8},
        {MPI_COMPLEX, 8},
        {MPI_LOGICAL, 4},
        {MPI_CHARACTER, 1},
        {MPI_INTEGER8, 8},
    };
    int size;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        MPI_Type_size(table[i].type, &size);
        CHECK((size_t)size == table[i].size);
        CHECK(MPI_Type_f2c(MPI_Type_c2f(table[i].type)) == table[i].type);
    }
    CHECK(MPI_Comm_c2f(MPI_COMM_WORLD) == 0 && MPI_Comm_c2f(MPI_COMM_SELF) == 1);
    CHECK(MPI_Comm_f2c(0) == MPI_COMM_WORLD);
}

static void check_attributes(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int *value, flag, length, level;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    CHECK(!flag || *value == 0 || *value == 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    CHECK(flag && (*value == MPI_ANY_SOURCE || *value >= 0));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    CHECK(!flag || *value == MPI_PROC_NULL || *value >= 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= MPI_ERR_LASTCODE);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
}

static void check_buffers(void)
{
    int sum = probe_rank + 1, both[2] = {-1, -1}, value = 40 + probe_rank;
    struct {
        double value;
        int rank;
    } largest = {probe_rank, probe_rank};
    MPI_Aint address;
    MPI_Datatype here;

    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 3);
    both[probe_rank] = probe_rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, 1, MPI_INT,
                  MPI_COMM_WORLD);
    CHECK(both[0] == 0 && both[1] == 1);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC,
                  MPI_COMM_WORLD);
    CHECK(largest.rank == 1);

    MPI_Get_address(&value, &address);
    MPI_Type_create_hindexed_block(1, 1, &address, MPI_INT, &here);
    MPI_Type_commit(&here);
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, here, peer, 8, peer, 8, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    CHECK(value == 40 + peer);
    MPI_Type_free(&here);
}

/* A broadcast from one of two groups to the other: MPI_ROOT. */
static void check_root(void)
{
    MPI_Comm inter;
    int value = probe_rank == 0 ? 17 : 0;

    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, peer, 9, &inter);
    MPI_Bcast(&value, 1, MPI_INT, probe_rank == 0 ? MPI_ROOT : 0, inter);
    CHECK(value == 17);
    MPI_Comm_free(&inter);
}

static void check_all(void)
{
    check_errors();
    check_truncation();
    check_statuses();
    check_groups();
    check_topologies();
    check_datatypes();
    check_sizes();
    check_attributes();
    check_buffers();
    check_root();
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    peer = 1 - probe_rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_all();
    probe_gate_together();
    check_all();
    return probe_end();
}
