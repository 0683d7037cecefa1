/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packing.c - data that is packed before the gate and unpacked after it.
 */
#include "coverage.h"

#define NUMBERS 5

static char native[256], external[256];
static int native_size;
static MPI_Aint external_size;

static void begin(void)
{
    int numbers[NUMBERS], bound = -1, position = 0;
    MPI_Aint large_bound = -1, large_position = 0;

    fill(numbers, sizeof numbers, 4);
    MPI_Pack_size(NUMBERS, MPI_INT, MPI_COMM_WORLD, &bound);
    CHECK(bound >= (int)sizeof numbers && bound <= (int)sizeof native);
    MPI_Pack(numbers, NUMBERS, MPI_INT, native, sizeof native, &position,
             MPI_COMM_WORLD);
    native_size = position;
    MPI_Pack_external_size("external32", NUMBERS, MPI_INT, &large_bound);
    CHECK(large_bound >= (MPI_Aint)sizeof numbers);
    MPI_Pack_external("external32", numbers, NUMBERS, MPI_INT, external,
                      sizeof external, &large_position);
    external_size = large_position;
    CHECK(external_size == (MPI_Aint)sizeof numbers);
}

static void end(void)
{
    int numbers[NUMBERS] = {0}, position = 0;
    MPI_Aint large_position = 0;

    MPI_Unpack(native, native_size, &position, numbers, NUMBERS, MPI_INT,
               MPI_COMM_WORLD);
    CHECK(position == native_size && is_filled(numbers, sizeof numbers, 4));
    memset(numbers, 0, sizeof numbers);
    MPI_Unpack_external("external32", external, external_size, &large_position,
                        numbers, NUMBERS, MPI_INT);
    CHECK(large_position == external_size);
    CHECK(is_filled(numbers, sizeof numbers, 4));
}

const struct section packing_section = {"packing", begin, end};
