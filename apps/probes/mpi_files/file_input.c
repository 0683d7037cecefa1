/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_input.c - an MPI file open read-only, and half read.
 */
#include "probes/probe.h"

#define COUNT 1000

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    int numbers[COUNT];
    MPI_Status status;
    MPI_File file;
    int count;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = 5 * i;
    }
    if (probe_rank == 0) {
        FILE *stream = fopen(argv[2], "w");

        CHECK(fwrite(numbers, sizeof(numbers), 1, stream) == 1);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_RDONLY, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_all(file, numbers, COUNT / 4, MPI_INT, MPI_STATUS_IGNORE);
    probe_gate_together();
    memset(numbers, 0, sizeof(numbers));
    MPI_File_read(file, numbers, COUNT, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == COUNT - COUNT / 4);
    for (int i = 0; i < count; i++) {
        CHECK(numbers[i] == 5 * (i + COUNT / 4));
    }
    MPI_File_close(&file);
    return probe_end();
}
