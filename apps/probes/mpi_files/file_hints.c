/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_hints.c - the hints of files, windows and communicators that the library returns, on
 * duplicates and after one rank has freed its part.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#define SUBJECTS 7
#define TEXT     65536

static MPI_Comm told, changed, twin, plane, partly;
static MPI_Win window;
static MPI_File file;

static MPI_Info hints(const char *key, const char *value, const char *shape)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_set(info, "shape", shape);
    return info;
}

static void make(const char *path)
{
    MPI_Info first =
        hints("mpi_assert_allow_overtaking", "true", "round");
    MPI_Info second = hints("mpi_assert_no_any_source", "false", "flat");
    MPI_Info third = hints("cb_nodes", "1", "long");
    const int dims[1] = {2}, periods[1] = {1};
    MPI_Comm line;
    void *base;

    MPI_Comm_dup_with_info(MPI_COMM_WORLD, first, &told);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, first, &changed);
    MPI_Comm_set_info(changed, second);
    MPI_Comm_dup(told, &twin);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
    MPI_Comm_dup_with_info(line, second, &plane);
    MPI_Comm_dup_with_info(line, first, &partly);
    MPI_Comm_free(&line);
    MPI_Comm_set_info(MPI_COMM_WORLD, second);
    MPI_Win_allocate(8, 1, second, told, &base, &window);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, third,
                  &file);
    MPI_File_set_info(file, second);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", second);
    MPI_Info_free(&first);
    MPI_Info_free(&second);
    MPI_Info_free(&third);
}

/* Returns 1 if both have the same entries, in any order. */
static int same(const char *before, const char *after)
{
    char copy[TEXT], *next = copy, *entry;
    int all = strlen(before) == strlen(after);

    strcpy(copy, before);
    while ((entry = strsep(&next, ";")) != NULL) {
        all = all && strstr(after, entry) != NULL;
    }
    return all;
}

/* Writes all keys and values in their order. */
static void write_down(MPI_Info info, char text[TEXT])
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    size_t used = 0;
    int count, found;

    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        CHECK(used < TEXT);
        if (!found) {
            continue; /* MPICH has keys that are too long */
        }
        used += (size_t)snprintf(text + used, TEXT - used, "%s=%s;", key, value);
    }
    text[used] = '\0';
    MPI_Info_free(&info);
}

static void look(char texts[SUBJECTS][TEXT])
{
    MPI_Comm const comms[] = {told, changed, twin, plane, MPI_COMM_WORLD};
    MPI_Info info;

    for (int i = 0; i < 5; i++) {
        MPI_Comm_get_info(comms[i], &info);
        write_down(info, texts[i]);
    }
    MPI_Win_get_info(window, &info);
    write_down(info, texts[5]);
    MPI_File_get_info(file, &info);
    write_down(info, texts[6]);
}

int main(int argc, char **argv)
{
    static char before[SUBJECTS][TEXT], after[SUBJECTS][TEXT];
    char library[2][MPI_MAX_LIBRARY_VERSION_STRING];
    int coordinate, length;

    probe_begin(argc, argv, 2);
    CHECK(argc >= 3);
    make(argv[2]);
    if (probe_rank == 1) {
        MPI_Comm_free(&partly);
    }
    look(before);
    CHECK(strstr(before[0], "allow_overtaking=true") != NULL);
    MPI_Get_library_version(library[0], &length);
    probe_gate();
    MPI_Get_library_version(library[1], &length);
    look(after);
    for (int i = 0; i < SUBJECTS; i++) {
        CHECK(strcmp(library[0], library[1]) != 0 ||
              same(before[i], after[i]));
    }
    MPI_Cart_coords(plane, probe_rank, 1, &coordinate);
    CHECK(coordinate == probe_rank);
    if (probe_rank == 0) {
        MPI_Comm_free(&partly);
    }
    MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Comm_free(&told);
    MPI_Comm_free(&changed);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&plane);
    return probe_end();
}
