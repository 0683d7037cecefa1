/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.c - groups. Two ranks in orders and selections.
 */
#include "coverage.h"

enum {
    ALL,
    TURNED,
    FIRST,
    SECOND,
    RANGE,
    REST,
    BOTH,
    COMMON,
    LESS,
    COUNT
};

static MPI_Group groups[COUNT];
static MPI_Fint number;

static void begin(void)
{
    const int turned[] = {1, 0}, zero[] = {0};
    int all[][3] = {{1, 0, -1}}, first[][3] = {{0, 0, 1}};

    MPI_Comm_group(MPI_COMM_WORLD, &groups[ALL]);
    MPI_Group_incl(groups[ALL], 2, turned, &groups[TURNED]);
    MPI_Group_incl(groups[ALL], 1, zero, &groups[FIRST]);
    MPI_Group_excl(groups[ALL], 1, zero, &groups[SECOND]);
    MPI_Group_range_incl(groups[ALL], 1, all, &groups[RANGE]);
    MPI_Group_range_excl(groups[ALL], 1, first, &groups[REST]);
    MPI_Group_union(groups[SECOND], groups[FIRST], &groups[BOTH]);
    MPI_Group_intersection(groups[TURNED], groups[FIRST], &groups[COMMON]);
    MPI_Group_difference(groups[ALL], groups[FIRST], &groups[LESS]);
    number = MPI_Group_c2f(groups[LESS]);
}

static void check_same(int first, int second, int expected)
{
    int result = -1;

    MPI_Group_compare(groups[first], groups[second], &result);
    CHECK(result == expected);
}

static void end(void)
{
    const int zero[] = {0};
    int size = -1, rank = -1, elsewhere[1] = {-1};

    MPI_Group_size(groups[BOTH], &size);
    CHECK(size == 2);
    MPI_Group_rank(groups[TURNED], &rank);
    CHECK(rank == OTHER);
    MPI_Group_translate_ranks(groups[ALL], 1, zero, groups[TURNED], elsewhere);
    CHECK(elsewhere[0] == 1);
    check_same(ALL, TURNED, MPI_SIMILAR);
    check_same(TURNED, RANGE, MPI_IDENT);
    check_same(SECOND, REST, MPI_IDENT);
    check_same(BOTH, TURNED, MPI_IDENT);
    check_same(COMMON, FIRST, MPI_IDENT);
    check_same(LESS, SECOND, MPI_IDENT);
    check_same(FIRST, SECOND, MPI_UNEQUAL);
    CHECK(MPI_Group_f2c(number) == groups[LESS]);
    for (int i = 0; i < COUNT; i++) {
        MPI_Group_free(&groups[i]);
        CHECK(groups[i] == MPI_GROUP_NULL);
    }
}

const struct section groups_section = {"groups", begin, end};
