/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_shared.c - the shared pointer of an MPI file, moved by one rank alone
 * and by ordered collectives.
 */
#include "probes/probe.h"

#define RECORD 8 /* ints */

static void fill_record(int *record, int turn)
{
    for (int i = 0; i < RECORD; i++) {
        record[i] = 10000 * probe_rank + 100 * turn + i;
    }
}

/* Checks that record `number` of the file has the data of `rank` in that
 * turn. */
static void check_record(MPI_File file, int number, int rank, int turn)
{
    int record[RECORD];

    MPI_File_read_at(file, number * RECORD, record, RECORD, MPI_INT,
                     MPI_STATUS_IGNORE);
    for (int i = 0; i < RECORD; i++) {
        CHECK(record[i] == 10000 * rank + 100 * turn + i);
    }
}

static void write_ordered(MPI_File file, int turn)
{
    int record[RECORD];

    fill_record(record, turn);
    CHECK(MPI_File_write_ordered(file, record, RECORD, MPI_INT,
                                 MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

/* Rank 1 alone moves the pointer. */
static void write_alone(MPI_File file, int turn)
{
    int record[RECORD];

    fill_record(record, turn);
    if (probe_rank == 1) {
        CHECK(MPI_File_write_shared(file, record, RECORD, MPI_INT,
                                    MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    MPI_Offset position;
    MPI_File file;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[2],
                        MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    write_alone(file, 1);
    write_alone(file, 2);
    probe_gate_together();
    write_alone(file, 3);
    write_ordered(file, 4);
    MPI_File_get_position_shared(file, &position);
    CHECK(position == 5 * RECORD);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    check_record(file, 0, 1, 1);
    check_record(file, 1, 1, 2);
    check_record(file, 2, 1, 3);
    check_record(file, 3, 0, 4);
    check_record(file, 4, 1, 4);
    MPI_File_close(&file);
    return probe_end();
}
