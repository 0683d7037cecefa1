/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - info objects.
 */
#include "coverage.h"

static MPI_Info info, copy;
static MPI_Fint number;

static void begin(void)
{
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "red");
    MPI_Info_set(info, "size", "17");
    MPI_Info_set(info, "superfluous", "1");
    MPI_Info_delete(info, "superfluous");
    MPI_Info_dup(info, &copy);
    MPI_Info_set(copy, "colour", "blue");
    number = MPI_Info_c2f(copy);
}

static void check_value(MPI_Info from, const char *key, const char *expected)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int length = -1, flag = 0;

    MPI_Info_get(from, key, MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strcmp(value, expected) == 0);
    MPI_Info_get_valuelen(from, key, &length, &flag);
    CHECK(flag && length == (int)strlen(expected));
}

static void end(void)
{
    char key[MPI_MAX_INFO_KEY + 1];
    int keys = -1;

    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys == 2);
    MPI_Info_get_nthkey(info, 1, key);
    CHECK(strcmp(key, "size") == 0);
    check_value(info, "colour", "red");
    check_value(copy, "size", "17");
    CHECK(MPI_Info_f2c(number) == copy);
    check_value(MPI_Info_f2c(number), "colour", "blue");
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL && copy == MPI_INFO_NULL);
}

const struct section info_section = {"info", begin, end};
