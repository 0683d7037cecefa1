/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.c - names of communicators and datatypes.
 */
#include "probes/probe.h"

static void expect_comm(MPI_Comm comm, const char *expected)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;

    MPI_Comm_get_name(comm, name, &length);
    CHECK(strcmp(name, expected) == 0 && length == (int)strlen(expected));
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype type;
    MPI_Comm comm;
    int length;

    probe_begin(argc, argv, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "pressure solver");
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_name(type, "two numbers");
    probe_gate();
    expect_comm(comm, "pressure solver");
    expect_comm(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    MPI_Type_get_name(type, name, &length);
    CHECK(strcmp(name, "two numbers") == 0);
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(strcmp(name, "MPI_DOUBLE") == 0);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    return probe_end();
}
