/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows.c - windows of all flavours, epochs of all kinds, remote access of
 * all kinds; names, attributes, error handlers. At the gate the windows exist
 * and no epoch is open.
 */
#include "coverage.h"

enum {
    CREATED,
    ALLOCATED,
    SHARED,
    DYNAMIC,
    FLAVOURS
};

#define CELLS 16

static MPI_Win windows[FLAVOURS];
static int *bases[FLAVOURS], own[CELLS], attached[CELLS];
static MPI_Aint attached_at[RANKS];
static int key, deleted, seen;
static MPI_Errhandler handler;
static MPI_Fint number;

static int delete_attribute(MPI_Win from, int which, void *in, void *extra)
{
    (void)from, (void)which, (void)extra;
    CHECK(in == &key);
    deleted++;
    return MPI_SUCCESS;
}

static void note(MPI_Win *where, int *code, ...)
{
    (void)where;
    seen = *code;
}

static void make_windows(void)
{
    const MPI_Aint size = CELLS * sizeof(int);
    const int unit = sizeof(int);
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Aint here;

    MPI_Win_create(own, size, unit, MPI_INFO_NULL, w, &windows[CREATED]);
    bases[CREATED] = own;
    MPI_Win_allocate(size, unit, MPI_INFO_NULL, w, &bases[ALLOCATED],
                     &windows[ALLOCATED]);
    MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, w, &bases[SHARED],
                            &windows[SHARED]);
    MPI_Win_create_dynamic(MPI_INFO_NULL, w, &windows[DYNAMIC]);
    MPI_Win_attach(windows[DYNAMIC], attached, size);
    bases[DYNAMIC] = attached;
    MPI_Get_address(attached, &here);
    MPI_Allgather(&here, 1, MPI_AINT, attached_at, 1, MPI_AINT, w);
    for (int i = 0; i < FLAVOURS; i++) {
        fill(bases[i], size, 10 * i + this_rank);
    }
}

static void begin(void)
{
    MPI_Info info;

    make_windows();
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &key, NULL);
    MPI_Win_set_attr(windows[CREATED], key, &key);
    MPI_Win_set_attr(windows[ALLOCATED], key, &key);
    MPI_Win_create_errhandler(note, &handler);
    MPI_Win_set_errhandler(windows[CREATED], handler);
    MPI_Win_set_name(windows[CREATED], "window on memory");
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(windows[CREATED], info);
    MPI_Info_free(&info);
    number = MPI_Win_c2f(windows[CREATED]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_described(void)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler found;
    void *value = NULL;
    int length = -1, flag = 0, size = -1;

    MPI_Win_get_name(windows[CREATED], name, &length);
    CHECK(strcmp(name, "window on memory") == 0);
    MPI_Win_get_group(windows[CREATED], &group);
    MPI_Group_size(group, &size);
    CHECK(size == RANKS);
    MPI_Group_free(&group);
    MPI_Win_get_info(windows[CREATED], &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    MPI_Win_get_attr(windows[CREATED], key, &value, &flag);
    CHECK(flag && value == &key);
    MPI_Win_get_attr(windows[ALLOCATED], MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == bases[ALLOCATED]);
    CHECK(MPI_Win_f2c(number) == windows[CREATED]);
    MPI_Win_get_errhandler(windows[CREATED], &found);
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    seen = 0;
    MPI_Win_call_errhandler(windows[CREATED], MPI_ERR_OTHER);
    CHECK(seen == MPI_ERR_OTHER);
}

static void check_memory(void)
{
    const MPI_Aint size = CELLS * sizeof(int);
    MPI_Aint theirs = -1;
    int *memory = NULL, unit = -1;

    for (int i = 0; i < FLAVOURS; i++) {
        CHECK(is_filled(bases[i], size, 10 * i + this_rank));
    }
    MPI_Win_shared_query(windows[SHARED], OTHER, &theirs, &unit, &memory);
    CHECK(theirs == size && unit == sizeof(int));
    CHECK(is_filled(memory, size, 10 * SHARED + OTHER));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Writes a number of this rank to cell i of the other rank, and reads it. */
static void check_access(int which, MPI_Aint at)
{
    MPI_Win win = windows[which];
    const int mine = 7 + this_rank, theirs = 7 + OTHER, one = 1;
    int found = -1;

    bases[which][0] = bases[which][1] = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, OTHER, at, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(bases[which][0] == theirs);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Accumulate(&one, 1, MPI_INT, OTHER, at, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(&found, 1, MPI_INT, OTHER, at, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(found == mine + 1 && bases[which][0] == theirs + 1);
}

/* Passive target: the other rank makes no call meanwhile. */
static void check_locks(MPI_Win win)
{
    const int ten = 10, zero = 0, two = 2;
    int before = -1, swapped = -1, fetched = -1;

    own[2] = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, OTHER, 0, win);
    MPI_Get_accumulate(&ten, 1, MPI_INT, &before, 1, MPI_INT, OTHER, 2, 1,
                       MPI_INT, MPI_SUM, win);
    MPI_Win_flush(OTHER, win);
    CHECK(before == 0);
    MPI_Fetch_and_op(&ten, &fetched, MPI_INT, OTHER, 2, MPI_SUM, win);
    MPI_Win_flush_local(OTHER, win);
    CHECK(fetched == 10);
    MPI_Compare_and_swap(&two, &zero, &swapped, MPI_INT, OTHER, 3, win);
    MPI_Win_unlock(OTHER, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, this_rank, 0, win);
    CHECK(own[2] == 20);
    MPI_Win_unlock(this_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_requests(MPI_Win win)
{
    const int mine = 30 + this_rank, one = 1;
    int found = -1, before = -1;
    MPI_Request requests[4];

    MPI_Win_lock_all(0, win);
    MPI_Rput(&mine, 1, MPI_INT, OTHER, 4, 1, MPI_INT, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Raccumulate(&one, 1, MPI_INT, OTHER, 4, 1, MPI_INT, MPI_SUM, win,
                    &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Rget_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, OTHER, 4, 1,
                        MPI_INT, MPI_SUM, win, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Win_flush_local_all(win);
    MPI_Win_flush_all(win);
    MPI_Rget(&found, 1, MPI_INT, OTHER, 4, 1, MPI_INT, win, &requests[3]);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    CHECK(before == mine + 1 && found == mine + 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Post, start, complete, wait; once with a test in place of the wait. */
static void check_active(MPI_Win win)
{
    const int other = OTHER, mine = 40 + this_rank;
    MPI_Group all, group;
    int done = 0;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &group);
    for (int round = 0; round < 2; round++) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
        MPI_Put(&mine, 1, MPI_INT, OTHER, 5 + round, 1, MPI_INT, win);
        MPI_Win_complete(win);
        for (done = 0; round == 1 && !done;) {
            MPI_Win_test(win, &done);
        }
        if (round == 0) {
            MPI_Win_wait(win);
        }
        CHECK(own[5 + round] == 40 + OTHER);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&group);
}

static void end(void)
{
    check_described();
    check_memory();
    check_access(CREATED, 0);
    check_access(ALLOCATED, 0);
    check_access(SHARED, 0);
    check_access(DYNAMIC, attached_at[OTHER]);
    check_locks(windows[CREATED]);
    check_requests(windows[CREATED]);
    check_active(windows[CREATED]);
    deleted = 0;
    MPI_Win_delete_attr(windows[ALLOCATED], key);
    CHECK(deleted == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(windows[DYNAMIC], attached);
    for (int i = 0; i < FLAVOURS; i++) {
        MPI_Win_free(&windows[i]);
        CHECK(windows[i] == MPI_WIN_NULL);
    }
    CHECK(deleted == 2);
    MPI_Win_free_keyval(&key);
    MPI_Errhandler_free(&handler);
}

const struct section windows_section = {"windows", begin, end};
