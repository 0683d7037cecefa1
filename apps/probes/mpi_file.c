/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_file.c - an open MPI file: works, but cannot be saved yet.
 */
#include "probe.h"

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    MPI_File file;
    int number, seen = -1;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &file);
    number = probe_rank + 30;
    MPI_File_write_at_all(file, probe_rank * (MPI_Offset)sizeof number, &number,
                          1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    probe_gate();
    MPI_File_read_at(file, (1 - probe_rank) * (MPI_Offset)sizeof number, &seen,
                     1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(seen == 31 - probe_rank);
    MPI_File_close(&file);
    return probe_end();
}
