/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_pending.c - nonblocking accesses to an MPI file that have been started
 * but not completed: alone, collective, at the individual pointer, and one
 * whose request is freed.
 */
#include "probes/probe.h"

#define COUNT 50000

static int written[3][COUNT], read_back[COUNT];

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Offset position;
    MPI_File file;
    int count;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[2],
                        MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_set_view(file, probe_rank * (MPI_Offset)sizeof(written), MPI_INT,
                      MPI_INT, "native", MPI_INFO_NULL);
    for (int i = 0; i < 3 * COUNT; i++) {
        written[i / COUNT][i % COUNT] = 3 * i + probe_rank;
    }
    MPI_File_write_at(file, 0, written[0], COUNT, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, COUNT, MPI_SEEK_SET);
    MPI_File_iwrite(file, written[1], COUNT, MPI_INT, &requests[0]);
    MPI_File_iwrite_all(file, written[2], COUNT, MPI_INT, &requests[1]);
    MPI_File_iread_at(file, 0, read_back, COUNT, MPI_INT, &requests[2]);
    MPI_File_iread_at(file, 0, &count, 1, MPI_INT, &requests[3]);
    MPI_Request_free(&requests[3]);
    probe_gate_together();
    CHECK(MPI_Waitall(3, requests, statuses) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++) {
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        CHECK(count == COUNT);
    }
    CHECK(memcmp(written[0], read_back, sizeof(read_back)) == 0);
    MPI_File_get_position(file, &position);
    CHECK(position == 3 * COUNT);
    for (int i = 1; i < 3; i++) {
        MPI_File_read_at(file, i * COUNT, read_back, COUNT, MPI_INT,
                         MPI_STATUS_IGNORE);
        CHECK(memcmp(written[i], read_back, sizeof(read_back)) == 0);
    }
    MPI_File_close(&file);
    return probe_end();
}
