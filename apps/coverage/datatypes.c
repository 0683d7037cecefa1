/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatypes.c - every constructor of datatypes, each used for a message from
 * this rank to itself after the gate; and the inquiry functions of datatypes.
 */
#include "coverage.h"

#define CELLS 64
#define MOST  24

static MPI_Datatype types[MOST];
static int type_count;
static MPI_Fint number;
static int out[CELLS], in[CELLS];

static const int lengths[2] = {1, 2}, places[2] = {0, 3};
static const MPI_Aint offsets[2] = {0, 12};

/* Returns the next type, named and committed. */
static MPI_Datatype *next(void)
{
    return &types[type_count++];
}

static void make_strided(void)
{
    MPI_Type_contiguous(3, MPI_INT, next());
    MPI_Type_vector(2, 1, 2, MPI_INT, next());
    MPI_Type_create_hvector(2, 1, 8, MPI_INT, next());
    MPI_Type_hvector(2, 1, 8, MPI_INT, next());
    MPI_Type_indexed(2, lengths, places, MPI_INT, next());
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, next());
    MPI_Type_create_hindexed(2, lengths, offsets, MPI_INT, next());
    MPI_Type_hindexed(2, (int *)lengths, (MPI_Aint *)offsets, MPI_INT, next());
    MPI_Type_create_hindexed_block(2, 1, offsets, MPI_INT, next());
    MPI_Type_create_resized(types[0], 0, 20, next());
}

static void make_others(void)
{
    const int whole[2] = {4, 4}, part[2] = {2, 2}, start[2] = {1, 1};
    const int distribution[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG,
                              MPI_DISTRIBUTE_DFLT_DARG};
    const int processes[2] = {2, 1};
    MPI_Datatype members[2] = {MPI_INT, MPI_FLOAT};

    MPI_Type_create_struct(2, lengths, offsets, members, next());
    MPI_Type_struct(2, (int *)lengths, (MPI_Aint *)offsets, members, next());
    MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_INT,
                             next());
    MPI_Type_create_darray(2, this_rank, 2, whole, distribution, arguments,
                           processes, MPI_ORDER_FORTRAN, MPI_INT, next());
    MPI_Type_dup(types[1], next());
}

static void begin(void)
{
    type_count = 0;
    make_strided();
    make_others();
    for (int i = 0; i < type_count; i++) {
        MPI_Type_commit(&types[i]);
    }
    MPI_Type_set_name(types[3], "every other int");
    number = MPI_Type_c2f(types[3]);
}

static void check_message(MPI_Datatype type)
{
    MPI_Count size = -1;
    MPI_Status status;
    int count = -1, bytes = -1, moved = 0;

    fill(out, sizeof out, 3);
    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 1, type, 0, 0, in, 1, type, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, type, &count);
    MPI_Type_size(type, &bytes);
    MPI_Type_size_x(type, &size);
    CHECK(count == 1 && size == bytes);
    for (int i = 0; i < CELLS; i++) {
        CHECK(in[i] == 0 || in[i] == out[i]);
        moved += in[i] != 0;
    }
    CHECK(moved * 4 == bytes);
}

static void check_extents(MPI_Datatype type, int span, int extent)
{
    MPI_Aint lower = -1, upper = -1, size = -1;
    MPI_Count large_lower = -1, large = -1;

    MPI_Type_get_extent(type, &lower, &size);
    CHECK(lower == 0 && size == extent);
    MPI_Type_get_extent_x(type, &large_lower, &large);
    CHECK(large_lower == 0 && large == extent);
    MPI_Type_get_true_extent(type, &lower, &size);
    CHECK(lower == 0 && size == span);
    MPI_Type_get_true_extent_x(type, &large_lower, &large);
    CHECK(large_lower == 0 && large == span);
    MPI_Type_extent(type, &size);
    MPI_Type_lb(type, &lower);
    MPI_Type_ub(type, &upper);
    CHECK(size == extent && lower == 0 && upper == extent);
}

static void check_contents(void)
{
    MPI_Datatype inner[1];
    MPI_Aint addresses[2];
    int counts[3], combiner = -1, integers[4];

    MPI_Type_get_envelope(types[4], &counts[0], &counts[1], &counts[2],
                          &combiner);
    CHECK(combiner == MPI_COMBINER_INDEXED && counts[0] == 5);
    MPI_Type_get_envelope(types[1], &counts[0], &counts[1], &counts[2],
                          &combiner);
    CHECK(combiner == MPI_COMBINER_VECTOR && counts[0] == 3);
    MPI_Type_get_contents(types[1], 3, 0, 1, integers, addresses, inner);
    CHECK(integers[0] == 2 && integers[2] == 2 && inner[0] == MPI_INT);
}

static void check_predefined(void)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Datatype type;
    int size = -1, length = -1;

    MPI_Type_get_name(types[3], name, &length);
    CHECK(strcmp(name, "every other int") == 0);
    CHECK(MPI_Type_f2c(number) == types[3]);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 8);
    MPI_Type_create_f90_integer(9, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 4);
    MPI_Type_create_f90_real(15, 300, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 8);
    MPI_Type_create_f90_complex(15, 300, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 16);
}

static void end(void)
{
    for (int i = 0; i < type_count; i++) {
        check_message(types[i]);
    }
    check_extents(types[9], 12, 20);
    check_extents(types[1], 12, 12);
    check_contents();
    check_predefined();
    for (int i = 0; i < type_count; i++) {
        MPI_Type_free(&types[i]);
        CHECK(types[i] == MPI_DATATYPE_NULL);
    }
}

const struct section datatypes_section = {"datatypes", begin, end};
