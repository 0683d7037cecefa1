/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_types.c - every constructor of datatypes, nested, and its contents.
 */
#include "probes/probe.h"

#define TYPES 12

/* Makes types from types; a parent is freed as soon as it has a child. */
static void make_types(MPI_Datatype *types)
{
    const int sizes[2] = {6, 8}, part[2] = {3, 4}, start[2] = {1, 2};
    const int lengths[3] = {2, 1, 3}, places[3] = {0, 4, 7};
    const MPI_Aint bytes[3] = {0, 40, 80};
    const int dist[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    const int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    const int grid[2] = {2, 1};

    MPI_Type_contiguous(3, MPI_INT, &types[0]);
    MPI_Type_vector(2, 2, 5, types[0], &types[1]);
    MPI_Type_create_hvector(2, 1, 200, types[1], &types[2]);
    MPI_Type_indexed(3, lengths, places, MPI_INT, &types[3]);
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_SHORT, &types[4]);
    MPI_Type_create_indexed_block(3, 2, places, MPI_DOUBLE, &types[5]);
    MPI_Type_create_hindexed_block(3, 2, bytes, MPI_DOUBLE, &types[6]);
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT,
                             &types[7]);
    MPI_Type_create_darray(2, probe_rank, 2, sizes, dist, dargs, grid,
                           MPI_ORDER_FORTRAN, MPI_FLOAT, &types[8]);
    MPI_Type_create_resized(types[3], -4, 64, &types[9]);
    MPI_Type_dup(types[2], &types[10]);
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &types[11]);
}

/* Combines all properties of a type into one number. */
static uint64_t describe(MPI_Datatype type)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    int size, integers, addresses, types, combiner;

    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return mix4(mix4((uint64_t)lower, (uint64_t)extent, (uint64_t)true_lower,
                     (uint64_t)true_extent),
                mix4((uint64_t)integers, (uint64_t)addresses, (uint64_t)types,
                     (uint64_t)combiner),
                (uint64_t)size, 0);
}

int main(int argc, char **argv)
{
    static char space[4096], copy[4096], packed[4096];
    MPI_Datatype types[TYPES], contents[1];
    uint64_t before[TYPES];
    MPI_Aint no_address;
    int length, at, numbers[3];

    probe_begin(argc, argv, 2);
    make_types(types);
    for (int i = 0; i < TYPES; i++) {
        before[i] = describe(types[i]);
        if (i != TYPES - 1) { /* a predefined one */
            MPI_Type_commit(&types[i]);
        }
    }
    probe_gate();
    fill(space, sizeof space, 5);
    for (int i = 0; i < TYPES; i++) {
        CHECK(describe(types[i]) == before[i]);
        MPI_Pack_size(1, types[i], MPI_COMM_WORLD, &length);
        CHECK(length <= (int)sizeof packed);
        at = 0;
        MPI_Pack(space + 64, 1, types[i], packed, sizeof packed, &at,
                 MPI_COMM_WORLD);
        length = at;
        memset(copy, 0, sizeof copy);
        MPI_Sendrecv(packed, length, MPI_PACKED, 1 - probe_rank, i, copy + 64,
                     1, types[i], 1 - probe_rank, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (i != 8) { /* the darray differs between the ranks */
            memset(packed, 0, sizeof packed);
            at = 0;
            MPI_Pack(copy + 64, 1, types[i], packed, sizeof packed, &at,
                     MPI_COMM_WORLD);
            CHECK(at == length);
        }
    }
    MPI_Type_get_contents(types[1], 3, 0, 1, numbers, &no_address, contents);
    CHECK(numbers[0] == 2 && numbers[1] == 2 && numbers[2] == 5);
    MPI_Type_size(contents[0], &length);
    CHECK(length == 3 * (int)sizeof(int));
    for (int i = 0; i < TYPES - 1; i++) {
        MPI_Type_free(&types[i]);
    }
    return probe_end();
}
