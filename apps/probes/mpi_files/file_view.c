/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_view.c - an MPI file with a view of a freed derived type, its pointer in
 * the middle of the view, in atomic mode, with hints. The working directory has
 * changed since the file was opened.
 */
#include "probes/probe.h"

#define BLOCK  5
#define BLOCKS 6  /* of each rank; those of the two alternate in the file */
#define HEADER 12 /* bytes before the view */

static MPI_File open_with_view(const char *name)
{
    MPI_Datatype blocks, filetype;
    MPI_Info info;
    MPI_File file;

    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    CHECK(MPI_File_open(MPI_COMM_WORLD, name,
                        MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL, info,
                        &file) == MPI_SUCCESS);
    MPI_Type_contiguous(BLOCK, MPI_INT, &blocks);
    MPI_Type_create_resized(blocks, 0, 2 * BLOCK * (MPI_Aint)sizeof(int),
                            &filetype);
    MPI_Type_commit(&filetype);
    CHECK(MPI_File_set_view(file,
                            HEADER + probe_rank * BLOCK * (int)sizeof(int),
                            MPI_INT, filetype, "native", info) == MPI_SUCCESS);
    MPI_Type_free(&blocks);
    MPI_Type_free(&filetype);
    MPI_Info_free(&info);
    return file;
}

static void check_view(MPI_File file)
{
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_Datatype etype, filetype;
    MPI_Offset start, byte;
    MPI_Aint low, extent;

    MPI_File_get_view(file, &start, &etype, &filetype, representation);
    CHECK(start == HEADER + probe_rank * BLOCK * (int)sizeof(int));
    CHECK(strcmp(representation, "native") == 0);
    MPI_Type_get_extent(filetype, &low, &extent);
    CHECK(extent == 2 * BLOCK * (MPI_Aint)sizeof(int));
    MPI_File_get_byte_offset(file, BLOCK + 1, &byte);
    CHECK(byte == start + extent + (MPI_Offset)sizeof(int));
    MPI_Type_free(&filetype);
}

static void check_modes(MPI_File file)
{
    int mode, atomic, members;
    MPI_Group group;

    MPI_File_get_amode(file, &mode);
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL));
    MPI_File_get_atomicity(file, &atomic);
    CHECK(atomic);
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &members);
    CHECK(members == probe_size);
    MPI_Group_free(&group);
}

/* Writes the numbers from `first` up to `end` at the individual pointer. */
static void write_numbers(MPI_File file, int first, int end)
{
    for (int i = first; i < end; i++) {
        int number = 1000 * probe_rank + i;

        CHECK(MPI_File_write(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
    }
}

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    const int half = BLOCK * BLOCKS / 2 + 2;
    int seen[BLOCK * BLOCKS];
    MPI_Offset position;
    MPI_File file;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    file = open_with_view(argv[2]);
    CHECK(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
    write_numbers(file, 0, half + probe_rank);
    CHECK(chdir("/") == 0);
    probe_gate_together();
    check_view(file);
    check_modes(file);
    MPI_File_get_position(file, &position);
    CHECK(position == half + probe_rank);
    write_numbers(file, half + probe_rank, BLOCK * BLOCKS);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all(file, seen, BLOCK * BLOCKS, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < BLOCK * BLOCKS; i++) {
        CHECK(seen[i] == 1000 * probe_rank + i);
    }
    CHECK(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
    return probe_end();
}
