/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.c - manage the windows that take part in independent checkpoints.
 */
#include "independent/window.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "independent/direct.h"
#include "independent/page.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"

#include <stdlib.h>

#define PAGE UINT64_C(4096)

static struct ckpt_independent_window *make(int count)
{
    const size_t n = (size_t)count;
    struct ckpt_independent_window *one = calloc(1, sizeof(*one));
    uint64_t *numbers = calloc(4 * n, sizeof(*numbers));

    if (one != NULL && numbers != NULL) {
        one->staged = calloc(2 * n, sizeof(*one->staged));
    }
    if (one == NULL || numbers == NULL || one->staged == NULL) {
        free(one);
        free(numbers);
        return NULL;
    }
    one->posted = numbers;
    one->started = numbers + n;
    one->completed = numbers + 2 * n;
    one->heard = numbers + 3 * n;
    one->placed = one->staged + n;
    return one;
}

/* Maps a record of zeros in all members and, if the memory is shared, its released
 * image. */
static int share_memory(MPI_Win win, struct ckpt_independent_window *one)
{
    const MPI_Comm comm = CKPT_LOWER(win->comm);
    const int count = win->shared->count;
    void *record, *released;
    uintptr_t upper = ckpt_enter();
    int code = ckpt_independent_share_memory(comm, "ckpt-window", ckpt_record_size(count),
                                             &record);

    if (code == MPI_SUCCESS) {
        one->record = record;
        one->record->count = (uint32_t)count; /* all members write the same value */
    }
    if (code == MPI_SUCCESS && win->flavor == MPI_WIN_FLAVOR_SHARED) {
        code = ckpt_independent_share_memory(comm, "ckpt-released", win->shared->span,
                                             &released);
        one->released = code == MPI_SUCCESS ? released : NULL;
    }
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Barrier)(comm);
    }
    ckpt_leave(upper);
    return code;
}

/* Allocates this process's own map of written pages. */
static int make_map_of_pages(MPI_Win win, struct ckpt_independent_window *one)
{
    if (win->flavor == MPI_WIN_FLAVOR_SHARED) {
        one->written = calloc(win->shared->span / PAGE, 1);
        return one->written == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    return MPI_SUCCESS;
}

/* Returns whether all members have mapped the window's memory. */
static int can_be_covered(MPI_Win win)
{
    return ckpt_independent != NULL && win->shared != NULL && win->shared->mapped;
}

int ckpt_independent_adopt(MPI_Win win)
{
    struct ckpt_independent_window *one;
    int code;

    if (!can_be_covered(win)) {
        return MPI_SUCCESS;
    }
    one = make(win->shared->count);
    if (one == NULL) {
        return MPI_ERR_NO_MEM;
    }
    code = make_map_of_pages(win, one);
    if (code == MPI_SUCCESS) {
        code = share_memory(win, one);
    }
    if (code == MPI_SUCCESS) {
        one->id = win->comm->id;
        one->is_direct = ckpt_direct_is_wanted(win);
        win->independent = one;
    }
    return code;
}

void ckpt_independent_forget(MPI_Win win)
{
    struct ckpt_independent_window *one = win->independent;

    CKPT_INVARIANT(one == NULL || (int)one->record->count == win->shared->count);
    if (one != NULL) {
        (void)ckpt_sys_munmap(one->record, ckpt_record_size((int)one->record->count));
        if (one->released != NULL) {
            (void)ckpt_sys_munmap(one->released, win->shared->span);
        }
        free(one->written);
        free(one->posted);
        free(one->staged);
        free(one);
        win->independent = NULL;
    }
}

/* Returns the first such window, from `win` on. */
static MPI_Win one_of_these(MPI_Win win)
{
    while (win != NULL && win->independent == NULL) {
        win = (MPI_Win)ckpt_live_next(&win->handle);
    }
    return win;
}

MPI_Win ckpt_independent_first(void)
{
    return one_of_these((MPI_Win)ckpt_live(CKPT_WIN));
}

MPI_Win ckpt_independent_next(MPI_Win win)
{
    return one_of_these((MPI_Win)ckpt_live_next(&win->handle));
}

MPI_Win ckpt_independent_find(uint64_t id)
{
    MPI_Win win = ckpt_independent_first();

    while (win != NULL && win->independent->id != id) {
        win = ckpt_independent_next(win);
    }
    return win;
}

MPI_Win ckpt_independent_uncovered(void)
{
    MPI_Win win = ckpt_independent == NULL ? NULL : (MPI_Win)ckpt_live(CKPT_WIN);

    while (win != NULL && win->independent != NULL) {
        win = (MPI_Win)ckpt_live_next(&win->handle);
    }
    return win;
}

/* ---- Pieces ------------------------------------------------------------------ */

size_t ckpt_own_piece_size(MPI_Win win)
{
    const uint64_t size = ckpt_window_is_shared(win)
                              ? win->shared->span
                              : win->shared->segment[win->comm->rank].size;

    return (size + PAGE - 1) & ~(PAGE - 1);
}

/* The ranks that a replay may use a piece for: all members, or the rank whose memory it
 * is. */
static int first_user(MPI_Win win, int piece)
{
    return ckpt_window_is_shared(win) ? 0 : piece;
}

static int end_of_users(MPI_Win win, int piece)
{
    CKPT_INVARIANT(piece >= 0 && piece < win->comm->size);
    return ckpt_window_is_shared(win) ? win->comm->size : piece + 1;
}

static struct ckpt_independent_rank *page_of(MPI_Win win, int user)
{
    CKPT_INVARIANT(user >= 0 && user < win->comm->size && win->comm->members[user] >= 0);
    return &ckpt_independent->rank[win->comm->members[user]];
}

/* A rank that cannot be replayed from its newest checkpoint needs no records: its next
 * checkpoint contains all deliveries up to now. It sets `lost`, and takes that checkpoint
 * while it holds the piece. */
static uint64_t kept_by(MPI_Win win, int user)
{
    return __atomic_load_n(&page_of(win, user)->lost, __ATOMIC_ACQUIRE)
               ? UINT64_MAX
               : ckpt_record_pair(win->independent->record, win->comm->rank, user)->kept;
}

uint64_t ckpt_piece_kept(MPI_Win win, int piece)
{
    uint64_t least = UINT64_MAX;

    for (int i = first_user(win, piece); i < end_of_users(win, piece); i++) {
        least = kept_by(win, i) < least ? kept_by(win, i) : least;
    }
    return least;
}

void ckpt_piece_ask(MPI_Win win, int piece, uint64_t interval)
{
    for (int i = first_user(win, piece); i < end_of_users(win, piece); i++) {
        if (interval > kept_by(win, i)) {
            ckpt_rank_ask(page_of(win, i));
        }
    }
}

void ckpt_piece_lost(MPI_Win win, int piece, uint64_t interval)
{
    for (int i = first_user(win, piece); i < end_of_users(win, piece); i++) {
        if (interval > kept_by(win, i)) {
            page_of(win, i)->lost = 1;
            ckpt_rank_ask(page_of(win, i));
        }
    }
}
