/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - info objects, on their own and on a communicator.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Info info, copy, hints;
    MPI_Comm comm;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int found, count, length;

    probe_begin(argc, argv, 2);
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "green");
    MPI_Info_set(info, "shape", "round");
    MPI_Info_set(info, "gone", "soon");
    MPI_Info_delete(info, "gone");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    probe_gate();
    MPI_Info_get(info, "colour", MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, "green") == 0);
    MPI_Info_get_valuelen(info, "shape", &length, &found);
    CHECK(found && length == 5);
    MPI_Info_get(info, "gone", MPI_MAX_INFO_VAL, value, &found);
    CHECK(!found);
    MPI_Info_set(info, "colour", "blue");
    MPI_Info_dup(info, &copy);
    MPI_Info_get_nkeys(copy, &count);
    CHECK(count == 2);
    MPI_Info_get_nthkey(copy, 1, key);
    CHECK(strcmp(key, "shape") == 0);
    MPI_Info_get(copy, "colour", MPI_MAX_INFO_VAL, value, &found);
    CHECK(found && strcmp(value, "blue") == 0);
    MPI_Comm_get_info(comm, &hints);
    MPI_Barrier(comm);
    MPI_Info_free(&hints);
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
    return probe_end();
}
