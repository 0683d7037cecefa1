/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_rewrite.c - an MPI file that all ranks rewrite in place for ever, longer
 * and shorter: after a restart it has the content of the checkpoint.
 */
#include "probes/probe.h"

#define COUNT   40000
#define LENGTHS 3 /* the file has 1 to 3 times COUNT numbers of each rank */

static int numbers[COUNT];

static int expected(int rank, int turn, int i)
{
    return (rank << 28) + 1000 * turn + i % 1000;
}

static int length(int turn)
{
    return 1 + turn % LENGTHS;
}

static MPI_Offset place(int rank, int part)
{
    return (2 * part + rank) * (MPI_Offset)sizeof(numbers);
}

/* Checks the other rank's data of its last turn. */
static void check_file(MPI_File file, int turn)
{
    MPI_Offset size;

    MPI_File_get_size(file, &size);
    CHECK(size == place(0, length(turn)));
    for (int part = 0; part < length(turn); part++) {
        MPI_File_read_at(file, place(1 - probe_rank, part), numbers, COUNT,
                         MPI_INT, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++) {
            CHECK(numbers[i] == expected(1 - probe_rank, turn, i));
        }
    }
}

static void write_file(MPI_File file, int turn)
{
    MPI_File_set_size(file, place(0, length(turn)));
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = expected(probe_rank, turn, i);
    }
    for (int part = 0; part < length(turn); part++) {
        MPI_File_write_at_all(file, place(probe_rank, part), numbers, COUNT,
                              MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    MPI_File file;
    int turn = 0;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[2],
                        MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    write_file(file, 0);
    do {
        check_file(file, turn++);
        MPI_Barrier(MPI_COMM_WORLD);
        write_file(file, turn);
    } while (probe_gate_step());
    check_file(file, turn);
    MPI_File_close(&file);
    return probe_end();
}
