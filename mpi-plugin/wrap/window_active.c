/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_active.c - active target synchronisation (MPI 3.1, section 11.5.1
 * and 11.5.2): fences; post, start, complete and wait.
 *
 * MPI_Win_start may wait for the matching MPI_Win_post, and does. A message
 * from each target says that it has posted. A message from each origin says
 * that its operations are complete. Both are counted, drained and logged like
 * the application's messages.
 */
#include "cut/collectives/collective.h"
#include "independent/calls/sync.h"
#include "base/invariant.h"
#include "wrap/window_wrapper.h"

#include <stdlib.h>

enum {
    TAG_POSTED = 1,
    TAG_COMPLETE
};

/* ---- Fences --------------------------------------------------------------- */

static int check_fence(MPI_Win win, int assert)
{
    int code = ckpt_check_assert(assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT |
                                             MPI_MODE_NOPRECEDE |
                                             MPI_MODE_NOSUCCEED);

    if (code == MPI_SUCCESS && !win->lenient &&
        (win->locked_all != CKPT_LOCK_NONE || win->locked_count > 0 ||
         win->exposure.ranks != NULL)) {
        code = MPI_ERR_RMA_SYNC;
    }
    return code;
}

int PMPI_Win_fence(int assert, MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_fence(win, assert), "MPI_Win_fence");
    ckpt_begin();
    if (win->independent != NULL) {
        code = ckpt_sync_fence(win);
        win->fence =
            assert &MPI_MODE_NOSUCCEED ? CKPT_FENCE_NONE : CKPT_FENCE_OPEN;
        CKPT_RETURN(win, code, "MPI_Win_fence");
    }
    code = ckpt_window_flush(win);
    ckpt_end();
    if (code != MPI_SUCCESS) {
        return ckpt_error(win, code, "MPI_Win_fence");
    }
    CKPT_COLLECTIVE_CALL(code, win->comm, CKPT_COLLECTIVE_REDO, Barrier,
                         CKPT_LOWER(win->comm));
    if (code == MPI_SUCCESS) {
        code = ckpt_window_sync_memory(win);
    }
    win->fence =
        assert &MPI_MODE_NOSUCCEED ? CKPT_FENCE_NONE : CKPT_FENCE_OPEN;
    CKPT_RETURN(win, code, "MPI_Win_fence");
}
CKPT_ALIAS(Win_fence);

/* ---- Post, start, complete and wait --------------------------------------- */

/* Translates the members of a group to their ranks in the window's group. */
static int translate(MPI_Group group, MPI_Win win, int size, int *ranks)
{
    MPI_Group whole;
    int *own = malloc((size_t)size * sizeof(*own) + 1);
    int code, ignored;

    if (own == NULL) {
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < size; i++) {
        own[i] = i;
    }
    CKPT_CALL(code, Comm_group, CKPT_LOWER(win->comm), &whole);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Group_translate_ranks, CKPT_LOWER(group), size, own,
                  whole, ranks);
        for (int i = 0; i < size && code == MPI_SUCCESS; i++) {
            code = ranks[i] < 0 ? MPI_ERR_GROUP : MPI_SUCCESS;
        }
        CKPT_CALL(ignored, Group_free, &whole);
        (void)ignored;
    }
    free(own);
    return code;
}

/* Finds the partners of a new epoch. The null group counts as empty, as in Open
 * MPI. */
static int find_partners(MPI_Group group, MPI_Win win,
                         struct ckpt_partners *partners)
{
    int code, size = 0;

    CKPT_INVARIANT(partners->ranks == NULL); /* no epoch: the callers have checked */
    ckpt_begin();
    if (group == MPI_GROUP_NULL) {
        group = MPI_GROUP_EMPTY;
    }
    CKPT_CALL(code, Group_size, CKPT_LOWER(group), &size);
    if (code == MPI_SUCCESS) {
        *partners = (struct ckpt_partners){
            .ranks = malloc((size_t)size * sizeof(int) + 1), .count = size};
        code = partners->ranks == NULL ? MPI_ERR_NO_MEM
                                       : translate(group, win, size,
                                                   partners->ranks);
    }
    if (code != MPI_SUCCESS) {
        free(partners->ranks);
        partners->ranks = NULL;
    }
    ckpt_end();
    return code;
}

static void end_epoch(struct ckpt_partners *partners)
{
    CKPT_INVARIANT(partners->ranks != NULL);
    free(partners->ranks);
    *partners = (struct ckpt_partners){.ranks = NULL};
}

static int tell_all(const struct ckpt_partners *partners, int tag, MPI_Comm comm)
{
    int code = MPI_SUCCESS;

    for (int i = 0; i < partners->count && code == MPI_SUCCESS; i++) {
        code = PMPI_Send(NULL, 0, MPI_BYTE, partners->ranks[i], tag, comm);
    }
    return code;
}

/* Waits for a message from each partner that has not sent one yet. */
static int hear_all(struct ckpt_partners *partners, int tag, MPI_Comm comm)
{
    int code = MPI_SUCCESS;

    CKPT_INVARIANT(partners->heard >= 0 && partners->heard <= partners->count);
    while (partners->heard < partners->count && code == MPI_SUCCESS) {
        code = PMPI_Recv(NULL, 0, MPI_BYTE, partners->ranks[partners->heard],
                         tag, comm, MPI_STATUS_IGNORE);
        partners->heard++;
    }
    return code;
}

static int check_post(MPI_Group group, int assert, MPI_Win win)
{
    int code = ckpt_check_assert(
        assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);

    if (code == MPI_SUCCESS && group == NULL) {
        code = MPI_ERR_GROUP;
    }
    if (code == MPI_SUCCESS && win->exposure.ranks != NULL) {
        code = MPI_ERR_RMA_SYNC;
    }
    return code;
}

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_post(group, assert, win), "MPI_Win_post");
    code = find_partners(group, win, &win->exposure);
    if (code == MPI_SUCCESS && win->independent != NULL) {
        ckpt_begin();
        code = ckpt_sync_post(win, &win->exposure);
        ckpt_end();
    } else if (code == MPI_SUCCESS) {
        code = tell_all(&win->exposure, TAG_POSTED, win->comm);
    }
    return code == MPI_SUCCESS ? code : ckpt_error(win, code, "MPI_Win_post");
}
CKPT_ALIAS(Win_post);

static int check_start(MPI_Group group, int assert, MPI_Win win)
{
    int code = ckpt_check_assert(assert, MPI_MODE_NOCHECK);

    if (code == MPI_SUCCESS && group == NULL) {
        code = MPI_ERR_GROUP;
    }
    if (code == MPI_SUCCESS &&
        (win->access.ranks != NULL ||
         (!win->lenient && (win->fence == CKPT_FENCE_USED ||
                            win->locked_all != CKPT_LOCK_NONE)))) {
        code = MPI_ERR_RMA_SYNC;
    }
    return code;
}

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_start(group, assert, win), "MPI_Win_start");
    code = find_partners(group, win, &win->access);
    if (code == MPI_SUCCESS) {
        win->fence = CKPT_FENCE_NONE;
    }
    if (code == MPI_SUCCESS && win->independent != NULL) {
        ckpt_begin();
        code = ckpt_sync_start(win, &win->access);
        ckpt_end();
    } else if (code == MPI_SUCCESS) {
        code = hear_all(&win->access, TAG_POSTED, win->comm);
    }
    return code == MPI_SUCCESS ? code : ckpt_error(win, code, "MPI_Win_start");
}
CKPT_ALIAS(Win_start);

int PMPI_Win_complete(MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(
        win, win->access.ranks == NULL ? MPI_ERR_RMA_SYNC : MPI_SUCCESS,
        "MPI_Win_complete");
    ckpt_begin();
    if (win->independent != NULL) {
        code = ckpt_sync_complete(win, &win->access);
    } else {
        code = ckpt_window_flush(win);
    }
    ckpt_end();
    if (code == MPI_SUCCESS && win->independent == NULL) {
        code = tell_all(&win->access, TAG_COMPLETE, win->comm);
    }
    end_epoch(&win->access);
    return code == MPI_SUCCESS ? code
                               : ckpt_error(win, code, "MPI_Win_complete");
}
CKPT_ALIAS(Win_complete);

/* Makes the origins' completed operations visible to loads. */
static int end_exposure(MPI_Win win)
{
    int code;

    end_epoch(&win->exposure);
    ckpt_begin();
    code = ckpt_window_sync_memory(win);
    ckpt_end();
    return code;
}

static int check_exposed(MPI_Win win)
{
    return win->exposure.ranks == NULL ? MPI_ERR_RMA_SYNC : MPI_SUCCESS;
}

int PMPI_Win_wait(MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_exposed(win), "MPI_Win_wait");
    if (win->independent != NULL) {
        ckpt_begin();
        code = ckpt_sync_wait(win, &win->exposure);
        ckpt_end();
    } else {
        code = hear_all(&win->exposure, TAG_COMPLETE, win->comm);
    }
    if (code == MPI_SUCCESS) {
        code = end_exposure(win);
    }
    return code == MPI_SUCCESS ? code : ckpt_error(win, code, "MPI_Win_wait");
}
CKPT_ALIAS(Win_wait);

int PMPI_Win_test(MPI_Win win, int *flag)
{
    struct ckpt_partners *origins;
    int code = MPI_SUCCESS, there = 1;

    CKPT_REQUIRE_WINDOW(win, check_exposed(win), "MPI_Win_test");
    origins = &win->exposure;
    if (win->independent != NULL) {
        ckpt_begin();
        code = ckpt_sync_test(win, origins, flag);
        if (*flag) {
            end_epoch(origins);
        }
        CKPT_RETURN(win, code, "MPI_Win_test");
    }
    while (origins->heard < origins->count && there && code == MPI_SUCCESS) {
        const int origin = origins->ranks[origins->heard];

        code = PMPI_Iprobe(origin, TAG_COMPLETE, win->comm, &there,
                           MPI_STATUS_IGNORE);
        if (there && code == MPI_SUCCESS) {
            code = PMPI_Recv(NULL, 0, MPI_BYTE, origin, TAG_COMPLETE, win->comm,
                             MPI_STATUS_IGNORE);
            origins->heard++;
        }
    }
    CKPT_INVARIANT(origins->heard <= origins->count);
    *flag = origins->heard == origins->count;
    if (*flag && code == MPI_SUCCESS) {
        code = end_exposure(win);
    }
    return code == MPI_SUCCESS ? code : ckpt_error(win, code, "MPI_Win_test");
}
CKPT_ALIAS(Win_test);
