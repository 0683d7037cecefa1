/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_errors.c - error handlers of MPI files, and the errors of calls on files
 * that are not open, or are open in another mode.
 */
#include "probes/probe.h"

static int told;

static void count(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
    told++;
}

static int class_of(int code)
{
    int error_class;

    MPI_Error_class(code, &error_class);
    return error_class;
}

static void check_no_file(void)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Offset position;
    int number = 0;

    CHECK(class_of(MPI_File_close(&file)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_get_position(file, &position)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_write_all(file, &number, 1, MPI_INT,
                                      MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, "/no/such/directory/file",
                                 MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
          MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL);
    CHECK(class_of(MPI_File_delete("/no/such/directory/file", MPI_INFO_NULL)) ==
          MPI_ERR_NO_SUCH_FILE);
}

/* argv: GATE PATH_OF_THE_FILE */
int main(int argc, char **argv)
{
    MPI_Errhandler counter, found;
    MPI_File file, other;
    int number = 5;

    probe_begin(argc, argv, 2);
    CHECK(argc == 3);
    check_no_file();
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[2],
                        MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_create_errhandler(count, &counter);
    MPI_File_set_errhandler(file, counter);
    MPI_Errhandler_free(&counter);
    probe_gate_together();
    check_no_file();
    CHECK(told == 0);
    CHECK(MPI_File_read(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE) !=
          MPI_SUCCESS);
    CHECK(told == 1);
    CHECK(MPI_File_write(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    /* Files opened from now on have the handler of MPI_FILE_NULL. */
    MPI_File_get_errhandler(file, &counter);
    MPI_File_set_errhandler(MPI_FILE_NULL, counter);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_RDONLY, MPI_INFO_NULL,
                        &other) == MPI_SUCCESS);
    MPI_File_get_errhandler(other, &found);
    CHECK(found == counter);
    MPI_File_close(&other);
    MPI_File_close(&file);
    return probe_end();
}
