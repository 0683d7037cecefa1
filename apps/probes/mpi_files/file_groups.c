/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_groups.c - MPI files of some of the ranks and of each rank alone, a file that is deleted on
 * close, and two files on a freed communicator.
 */
#include "probes/probe.h"

static char path[4096];

static MPI_File open_file(MPI_Comm comm, const char *name, const char *kind,
                          int number, int mode)
{
    MPI_File file;

    snprintf(path, sizeof(path), "%s.%s%d", name, kind, number);
    CHECK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | mode,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    return file;
}

static void put(MPI_File file, int place, int number)
{
    MPI_File_write_at(file, place * (MPI_Offset)sizeof(int), &number, 1, MPI_INT,
                      MPI_STATUS_IGNORE);
}

static int get(MPI_File file, int place)
{
    int number = -1;

    MPI_File_read_at(file, place * (MPI_Offset)sizeof(int), &number, 1, MPI_INT,
                     MPI_STATUS_IGNORE);
    return number;
}

/* argv: GATE PATH_OF_THE_FILES */
int main(int argc, char **argv)
{
    MPI_File part, own, brief;
    MPI_Comm half;
    int rank;

    probe_begin(argc, argv, 4);
    CHECK(argc == 3);
    MPI_Comm_split(MPI_COMM_WORLD, probe_rank % 2, -probe_rank, &half);
    MPI_Comm_rank(half, &rank);
    CHECK(rank == 1 - probe_rank / 2);
    part = open_file(half, argv[2], "part", probe_rank % 2, 0);
    brief = open_file(half, argv[2], "brief", probe_rank % 2,
                      MPI_MODE_DELETE_ON_CLOSE);
    MPI_Comm_free(&half);
    own = open_file(MPI_COMM_SELF, argv[2], "own", probe_rank, 0);
    put(part, rank, 10 + probe_rank);
    put(brief, rank, 20 + probe_rank);
    put(own, 3, 30 + probe_rank);
    probe_gate_together();
    CHECK(get(part, 1 - rank) == 10 + (probe_rank + 2) % 4);
    CHECK(get(brief, 1 - rank) == 20 + (probe_rank + 2) % 4);
    CHECK(get(own, 3) == 30 + probe_rank);
    MPI_File_close(&own);
    MPI_File_close(&part);
    MPI_File_close(&brief);
    snprintf(path, sizeof(path), "%s.brief%d", argv[2], probe_rank % 2);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(access(path, F_OK) != 0);
    return probe_end();
}
