/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files.c - a shared file: every way to read and to write, views, pointers,
 * hints, error handlers. At the gate the file is open, with a view and both
 * pointers moved. Data written before the gate is read after it.
 */
#include "coverage.h"

#define CELL ((MPI_Offset)sizeof(int))

static MPI_File file;
static MPI_Fint number;
static MPI_Errhandler handler;
static int seen;

static void note(MPI_File *where, int *code, ...)
{
    (void)where;
    seen = *code;
}

/* Each write of a rank writes one int of this rank; each read must find one. */
static int written, found;

static int *value(void)
{
    written = 1000 + this_rank;
    found = -1;
    return &written;
}

static void check_found(void)
{
    CHECK(found == 1000 + this_rank);
}

static void back(void)
{
    MPI_File_seek(file, -1, MPI_SEEK_CUR);
}

static void check_explicit(void)
{
    MPI_Status *s = MPI_STATUS_IGNORE;
    MPI_Request r;

    MPI_File_write_at(file, 1, value(), 1, MPI_INT, s);
    MPI_File_read_at(file, 1, &found, 1, MPI_INT, s);
    check_found();
    MPI_File_write_at_all(file, 2, value(), 1, MPI_INT, s);
    MPI_File_read_at_all(file, 2, &found, 1, MPI_INT, s);
    check_found();
    MPI_File_iwrite_at(file, 3, value(), 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    MPI_File_iread_at(file, 3, &found, 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    check_found();
    MPI_File_iwrite_at_all(file, 4, value(), 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    MPI_File_iread_at_all(file, 4, &found, 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    check_found();
    MPI_File_write_at_all_begin(file, 5, value(), 1, MPI_INT);
    MPI_File_write_at_all_end(file, &written, s);
    MPI_File_read_at_all_begin(file, 5, &found, 1, MPI_INT);
    MPI_File_read_at_all_end(file, &found, s);
    check_found();
}

static void check_individual(void)
{
    MPI_Status *s = MPI_STATUS_IGNORE;
    MPI_Request r;

    MPI_File_seek(file, 6, MPI_SEEK_SET);
    MPI_File_write(file, value(), 1, MPI_INT, s);
    back();
    MPI_File_read(file, &found, 1, MPI_INT, s);
    check_found();
    MPI_File_write_all(file, value(), 1, MPI_INT, s);
    back();
    MPI_File_read_all(file, &found, 1, MPI_INT, s);
    check_found();
    MPI_File_iwrite(file, value(), 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    back();
    MPI_File_iread(file, &found, 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    check_found();
    MPI_File_iwrite_all(file, value(), 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    back();
    MPI_File_iread_all(file, &found, 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    check_found();
    MPI_File_write_all_begin(file, value(), 1, MPI_INT);
    MPI_File_write_all_end(file, &written, s);
    back();
    MPI_File_read_all_begin(file, &found, 1, MPI_INT);
    MPI_File_read_all_end(file, &found, s);
    check_found();
}

/* The shared pointer needs one view for all ranks. In rank order each rank
 * reads its own data again, otherwise the data of either rank. */
static void check_shared(void)
{
    MPI_Status *s = MPI_STATUS_IGNORE;
    MPI_Offset place = -1;
    MPI_Request r;

    MPI_File_seek_shared(file, 100, MPI_SEEK_SET);
    MPI_File_write_ordered(file, value(), 1, MPI_INT, s);
    MPI_File_write_ordered_begin(file, value(), 1, MPI_INT);
    MPI_File_write_ordered_end(file, &written, s);
    MPI_File_write_shared(file, value(), 1, MPI_INT, s);
    MPI_File_iwrite_shared(file, value(), 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &place);
    CHECK(place == 100 + 4 * RANKS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 100, MPI_SEEK_SET);
    MPI_File_read_ordered(file, &found, 1, MPI_INT, s);
    check_found();
    MPI_File_read_ordered_begin(file, &found, 1, MPI_INT);
    MPI_File_read_ordered_end(file, &found, s);
    check_found();
    MPI_File_read_shared(file, &found, 1, MPI_INT, s);
    CHECK(found >= 1000 && found < 1000 + RANKS);
    MPI_File_iread_shared(file, &found, 1, MPI_INT, &r);
    MPI_Wait(&r, s);
    CHECK(found >= 1000 && found < 1000 + RANKS);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int convert(void *to, MPI_Datatype type, int count, void *from,
                   MPI_Offset place, void *extra)
{
    (void)to, (void)type, (void)count, (void)from, (void)place, (void)extra;
    return MPI_SUCCESS;
}

static int find_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    (void)type, (void)extra;
    *extent = CELL;
    return MPI_SUCCESS;
}

/* No version of Open MPI converts data itself. */
static void check_representation(void)
{
    int class = -1;

    MPI_Error_class(MPI_Register_datarep("coverage", convert, convert,
                                         find_extent, NULL),
                    &class);
    CHECK(class == MPI_ERR_CONVERSION);
}

/* Rank r sees cells r, r + RANKS, ... */
static void set_own_view(void)
{
    MPI_Datatype type, padded;

    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, RANKS * CELL, &padded);
    MPI_Type_commit(&padded);
    MPI_File_set_view(file, this_rank * CELL, MPI_INT, padded, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&type);
    MPI_Type_free(&padded);
}

static void begin(void)
{
    MPI_Info info;

    if (this_rank == 0) {
        (void)MPI_File_delete(coverage_scratch, MPI_INFO_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, coverage_scratch,
                  MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CHECK(file != MPI_FILE_NULL);
    MPI_File_create_errhandler(note, &handler);
    MPI_File_set_errhandler(file, handler);
    number = MPI_File_c2f(file);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "read_mostly");
    MPI_File_set_info(file, info);
    MPI_Info_free(&info);
    MPI_File_preallocate(file, 400 * CELL);
    MPI_File_set_size(file, 300 * CELL);
    MPI_File_set_atomicity(file, 1);
    set_own_view();
    MPI_File_write_at_all(file, 0, value(), 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 17, MPI_SEEK_SET);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_described(void)
{
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler got;
    int mode = -1, flag = -1, size = -1;

    CHECK(MPI_File_f2c(number) == file);
    MPI_File_get_amode(file, &mode);
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    MPI_File_get_atomicity(file, &flag);
    CHECK(flag == 1);
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &size);
    CHECK(size == RANKS);
    MPI_Group_free(&group);
    MPI_File_get_info(file, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    MPI_File_get_errhandler(file, &got);
    CHECK(got == handler);
    MPI_Errhandler_free(&got);
    seen = 0;
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(seen == MPI_ERR_OTHER);
}

static void check_places(void)
{
    char representation[MPI_MAX_DATAREP_STRING] = "";
    MPI_Datatype etype, filetype;
    MPI_Offset place = -1;
    MPI_Aint extent = -1;

    MPI_File_get_position(file, &place);
    CHECK(place == 17);
    MPI_File_get_byte_offset(file, 3, &place);
    CHECK(place == (3 * RANKS + this_rank) * CELL);
    MPI_File_get_size(file, &place);
    CHECK(place == 300 * CELL);
    MPI_File_get_view(file, &place, &etype, &filetype, representation);
    CHECK(place == this_rank * CELL && etype == MPI_INT);
    CHECK(strcmp(representation, "native") == 0);
    MPI_Type_free(&filetype);
    MPI_File_get_type_extent(file, MPI_INT, &extent);
    CHECK(extent == CELL);
    MPI_File_read_at(file, 0, &found, 1, MPI_INT, MPI_STATUS_IGNORE);
    check_found();
}

static void end(void)
{
    value();
    check_representation();
    check_described();
    check_places();
    check_explicit();
    check_individual();
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    check_shared();
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    MPI_Errhandler_free(&handler);
}

const struct section files_section = {"files", begin, end};
