/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_split.c - split collectives on two MPI files that have begun but not ended: one writes, the
 * other reads.
 */
#include "probes/probe.h"

#define COUNT 3000

static int written[COUNT], read_back[COUNT];

static MPI_File open_file(const char *name, const char *suffix)
{
    char path[4096];
    MPI_File file;

    snprintf(path, sizeof(path), "%s%s", name, suffix);
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_view(file, probe_rank * COUNT * (MPI_Offset)sizeof(int),
                      MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    return file;
}

static void check_count(MPI_Status *status)
{
    int count;

    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == COUNT);
}

/* argv: GATE PATH_OF_THE_FILES */
int main(int argc, char **argv)
{
    MPI_File first, second;
    MPI_Status status;
    MPI_Offset position;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    first = open_file(argv[2], ".1");
    second = open_file(argv[2], ".2");
    for (int i = 0; i < COUNT; i++) {
        written[i] = 7 * i + probe_rank;
    }
    MPI_File_write_at_all(second, 0, written, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(first, written, COUNT, MPI_INT);
    MPI_File_read_at_all_begin(second, 0, read_back, COUNT, MPI_INT);
    probe_gate_together();
    CHECK(MPI_File_write_all_end(first, written, &status) == MPI_SUCCESS);
    check_count(&status);
    CHECK(MPI_File_read_at_all_end(second, read_back, &status) == MPI_SUCCESS);
    check_count(&status);
    CHECK(memcmp(written, read_back, sizeof(written)) == 0);
    MPI_File_get_position(first, &position);
    CHECK(position == COUNT);
    memset(read_back, 0, sizeof(read_back));
    MPI_File_read_at_all(first, 0, read_back, COUNT, MPI_INT, &status);
    CHECK(memcmp(written, read_back, sizeof(written)) == 0);
    MPI_File_close(&second);
    MPI_File_close(&first);
    return probe_end();
}
