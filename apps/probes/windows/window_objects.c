/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_objects.c - objects of a window: attributes, name, infos, error handler and group; windows
 * of some of the ranks and of one rank alone.
 */
#include "probes/probe.h"

#include <string.h>

static int handled, deleted;

static void handle_error(MPI_Win *window, int *code, ...)
{
    (void)window;
    MPI_Error_class(*code, &handled);
}

static int delete_attribute(MPI_Win window, int keyval, void *value, void *extra)
{
    (void)window, (void)keyval, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static void check_attributes(MPI_Win window, void *base, int keyval, int *value)
{
    int *unit, *flavor, *model, *own, flag;
    MPI_Aint *size;
    void *start;

    MPI_Win_get_attr(window, MPI_WIN_BASE, &start, &flag);
    CHECK(flag && start == base);
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == 80);
    MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == 8);
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
    MPI_Win_get_attr(window, keyval, &own, &flag);
    CHECK(flag && own == value);
}

static void check_name_and_group(MPI_Win window, int size)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group;
    int length, members;

    MPI_Win_get_name(window, name, &length);
    CHECK(strcmp(name, "house") == 0 && length == 5);
    MPI_Win_get_group(window, &group);
    MPI_Group_size(group, &members);
    CHECK(members == size);
    MPI_Group_free(&group);
}

/* An access without an epoch is an error. */
static void check_error(MPI_Win window)
{
    handled = 0;
    MPI_Win_unlock(0, window);
    CHECK(handled == MPI_ERR_RMA_SYNC);
}

int main(int argc, char **argv)
{
    MPI_Win whole, own, alone;
    MPI_Comm part;
    MPI_Errhandler handler;
    MPI_Info info;
    double *memory, number = 8.5, *mine, *one, got = 0;
    int keyval, value = 3;

    probe_begin(argc, argv, 3);
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_disp_unit", "true");
    MPI_Win_allocate(80, 8, info, MPI_COMM_WORLD, &memory, &whole);
    MPI_Info_free(&info);
    MPI_Comm_split(MPI_COMM_WORLD, probe_rank == 0, 0, &part);
    MPI_Win_allocate(80, 8, MPI_INFO_NULL, part, &mine, &own);
    MPI_Comm_free(&part);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &one, &alone);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &keyval, NULL);
    MPI_Win_set_attr(whole, keyval, &value);
    MPI_Win_set_name(whole, "house");
    MPI_Win_create_errhandler(handle_error, &handler);
    MPI_Win_set_errhandler(whole, handler);
    MPI_Errhandler_free(&handler);
    check_error(whole);
    memory[9] = probe_rank;
    mine[0] = 10 + probe_rank;
    probe_gate_together();
    check_attributes(whole, memory, keyval, &value);
    check_name_and_group(whole, 3);
    check_error(whole);
    MPI_Win_fence(0, whole);
    MPI_Get(&got, 1, MPI_DOUBLE, (probe_rank + 1) % 3, 9, 1, MPI_DOUBLE, whole);
    MPI_Win_fence(0, whole);
    CHECK(got == (probe_rank + 1) % 3);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, own);
    MPI_Get(&got, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, own);
    MPI_Win_unlock(0, own);
    CHECK(got == (probe_rank == 0 ? 10 : 11));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, alone);
    MPI_Put(&number, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, alone);
    MPI_Win_unlock(0, alone);
    CHECK(*one == 8.5);
    MPI_Win_free(&alone);
    MPI_Win_free(&own);
    MPI_Win_free(&whole);
    CHECK(deleted == 3);
    return probe_end();
}
