/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_append.c - an MPI file to which all ranks append all the time, in
 * write-only mode: a restart removes data appended after the checkpoint.
 */
#include "probes/probe.h"

#include <sys/stat.h>

#define RECORD 32 /* ints */
#define BEFORE 16 /* bytes already in the file */

static const char *path;

static long size_of_file(void)
{
    struct stat status;

    CHECK(stat(path, &status) == 0);
    return (long)status.st_size;
}

static void make_file(void)
{
    if (probe_rank == 0) {
        FILE *stream = fopen(path, "w");

        CHECK(stream != NULL && fputs("0123456789abcdef", stream) >= 0);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    const long size = 2 * RECORD * (long)sizeof(int);
    int record[RECORD], turn = 0;
    MPI_Offset position;
    MPI_File file;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    path = argv[2];
    make_file();
    CHECK(MPI_File_open(MPI_COMM_WORLD, path,
                        MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_get_position(file, &position);
    CHECK(position == BEFORE);
    MPI_File_seek(file, probe_rank * size / 2, MPI_SEEK_CUR);
    do {
        CHECK(size_of_file() == BEFORE + turn * size);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < RECORD; i++) {
            record[i] = 2 * turn + probe_rank;
        }
        MPI_File_write_all(file, record, RECORD, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_seek(file, size / 2, MPI_SEEK_CUR);
        turn++;
        MPI_Barrier(MPI_COMM_WORLD);
    } while (probe_gate_step());
    MPI_File_close(&file);
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    for (int i = 0; i < 2 * turn; i++) {
        MPI_File_read_at_all(file, BEFORE + i * size / 2, record, RECORD,
                             MPI_INT, MPI_STATUS_IGNORE);
        CHECK(record[0] == i && record[RECORD - 1] == i);
    }
    MPI_File_close(&file);
    return probe_end();
}
