/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.c - the objects behind MPI_Win, and their lower windows.
 */
#include "handles/window.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/info.h"
#include "handles/kinds.h"
#include "handles/window_shared.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

MPI_Win ckpt_window_new(int flavor, const char *creator, void *site)
{
    MPI_Win win = ckpt_handle_new(CKPT_WIN, sizeof(*win), NULL, creator, site);

    if (win != NULL) {
        win->flavor = flavor;
        win->unit = 1;
        win->dirty = CKPT_DIRTY_NONE;
    }
    return win;
}

void ckpt_window_destroy(MPI_Win win)
{
    if (win->room != 0) {
        (void)ckpt_sys_munmap(win->base, win->room);
    }
    ckpt_shared_free(win->shared);
    if (win->infos != NULL) {
        ckpt_memory_free(win->infos, win->infos_size);
    }
    while (win->attached != NULL) {
        struct ckpt_attached *next = win->attached->next;

        free(win->attached);
        win->attached = next;
    }
    free(win->access.ranks);
    free(win->exposure.ranks);
    free(win->locked);
    if (win->errhandler != NULL) {
        ckpt_drop(win->errhandler);
    }
    ckpt_handle_destroy(&win->handle);
}

/* ---- In the lower half ---------------------------------------------------- */

static int attach_all(MPI_Win win, MPI_Win lower)
{
    int code = MPI_SUCCESS;

    for (struct ckpt_attached *one = win->attached;
         one != NULL && code == MPI_SUCCESS; one = one->next) {
        code = CKPT_FUNCTION(Win_attach)(lower, one->base, one->size);
    }
    return code;
}

/* Decides whether the window uses memory of the lower half; all members agree. A
 * restart may put the members on several nodes. Then memory from
 * MPI_Win_allocate becomes private memory of this process, which the standard
 * allows. */
static int decide_sharing(MPI_Win win, MPI_Comm comm, int *share)
{
    int code = MPI_SUCCESS;

    *share = win->shared != NULL;
    if (*share && win->flavor == MPI_WIN_FLAVOR_ALLOCATE) {
        code = ckpt_shared_possible(comm, share);
    }
    return code;
}

static int make(MPI_Win win, MPI_Comm comm, MPI_Info info, MPI_Win *lower)
{
    int code, share;

    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        code = CKPT_FUNCTION(Win_create_dynamic)(info, comm, lower);
        return code == MPI_SUCCESS ? attach_all(win, *lower) : code;
    }
    code = decide_sharing(win, comm, &share);
    if (code == MPI_SUCCESS && share) {
        return ckpt_shared_make(win, comm, info, lower);
    }
    if (win->shared != NULL) {
        win->shared->mapped = 0;
    }
    return code == MPI_SUCCESS
               ? CKPT_FUNCTION(Win_create)(win->base, win->size, win->unit,
                                           info, comm, lower)
               : code;
}

/* Begins the epoch in which a lower window stays for its whole life. */
static int begin_epoch(MPI_Win lower)
{
    int code = CKPT_FUNCTION(Win_set_errhandler)(lower,
                                                 CKPT_LOWER(MPI_ERRORS_RETURN));

    return code == MPI_SUCCESS
               ? CKPT_FUNCTION(Win_lock_all)(MPI_MODE_NOCHECK, lower)
               : code;
}

static int make_locks(MPI_Win win, MPI_Comm comm)
{
    const MPI_Aint size = sizeof(win->saved_words);
    const int unit = sizeof(win->saved_words[0]);
    uint64_t *words;
    int code, shared;

    win->locks = NULL;
    if (ckpt_info_is_true(win->infos, "no_locks")) {
        return MPI_SUCCESS;
    }
    code = ckpt_shared_possible(comm, &shared);
    if (code == MPI_SUCCESS && shared) { /* progress without the target's help */
        code = CKPT_FUNCTION(Win_allocate_shared)(
            size, unit, CKPT_LOWER(MPI_INFO_NULL), comm, &words, &win->locks);
    } else if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Win_allocate)(
            size, unit, CKPT_LOWER(MPI_INFO_NULL), comm, &words, &win->locks);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    win->words = words;
    for (int i = 0; i < CKPT_LOCK_WORDS; i++) {
        words[i] = win->saved_words[i];
    }
    return begin_epoch(win->locks);
}

static int read_model(MPI_Win win)
{
    int *model, flag = 0;
    int code = CKPT_FUNCTION(Win_get_attr)(win->handle.lower, MPI_WIN_MODEL,
                                           &model, &flag);

    win->model = code == MPI_SUCCESS && flag ? *model : MPI_WIN_SEPARATE;
    return code;
}

int ckpt_window_open(MPI_Win win, MPI_Comm comm)
{
    MPI_Info info;
    MPI_Win lower = NULL;
    int code = CKPT_FUNCTION(Info_create)(&info);

    if (code == MPI_SUCCESS) {
        /* With no_locks the lower window could not have its epoch. */
        code = ckpt_info_add(info, win->infos, "no_locks");
        code = code == MPI_SUCCESS ? make(win, comm, info, &lower) : code;
        (void)CKPT_FUNCTION(Info_free)(&info);
    }
    if (code == MPI_SUCCESS) {
        win->handle.lower = lower;
        code = begin_epoch(lower);
    }
    if (code == MPI_SUCCESS) {
        code = read_model(win);
    }
    if (code == MPI_SUCCESS) {
        code = make_locks(win, comm);
    }
    return code == MPI_SUCCESS ? CKPT_FUNCTION(Barrier)(comm) : code;
}

int ckpt_window_close(MPI_Win win)
{
    MPI_Win lowers[] = {win->handle.lower, win->locks};
    int code = MPI_SUCCESS;

    if (win->shared != NULL && win->shared->mapped) {
        ckpt_shared_unalias(win);
    }
    /* The first one waits for all members: after that no rank uses the locks. */
    for (int i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        if (lowers[i] != NULL) {
            code = CKPT_FUNCTION(Win_unlock_all)(lowers[i]);
        }
        if (lowers[i] != NULL && code == MPI_SUCCESS) {
            code = CKPT_FUNCTION(Win_free)(&lowers[i]);
        }
    }
    return code;
}

/* ---- All windows ---------------------------------------------------------- */

static MPI_Win first_window(void)
{
    return (MPI_Win)ckpt_live(CKPT_WIN);
}

static MPI_Win window_after(MPI_Win win)
{
    return (MPI_Win)ckpt_live_next(&win->handle);
}

int ckpt_windows_flush(void)
{
    int code = MPI_SUCCESS;

    for (MPI_Win win = first_window(); win != NULL && code == MPI_SUCCESS;
         win = window_after(win)) {
        if (win->dirty != CKPT_DIRTY_NONE) {
            CKPT_CALL(code, Win_flush_all, CKPT_LOWER(win));
            win->dirty = CKPT_DIRTY_NONE;
        }
    }
    return code;
}

int ckpt_windows_dirty(void)
{
    for (MPI_Win win = first_window(); win != NULL; win = window_after(win)) {
        if (win->dirty != CKPT_DIRTY_NONE) {
            return 1;
        }
    }
    return 0;
}

void ckpt_windows_save(void)
{
    for (MPI_Win win = first_window(); win != NULL; win = window_after(win)) {
        for (int i = 0; win->locks != NULL && i < CKPT_LOCK_WORDS; i++) {
            win->saved_words[i] = win->words[i];
        }
    }
}

/* Returns the window whose communicator has the lowest id above `done`, or
 * NULL. */
static MPI_Win next_to_rebuild(uint64_t done)
{
    MPI_Win next = NULL;

    for (MPI_Win win = first_window(); win != NULL; win = window_after(win)) {
        if (win->comm->id > done &&
            (next == NULL || win->comm->id < next->comm->id)) {
            next = win;
        }
    }
    return next;
}

static int rebuild(MPI_Win win)
{
    int code = ckpt_window_open(win, CKPT_LOWER(win->comm));

    if (code == MPI_SUCCESS && win->shared != NULL && win->shared->mapped) {
        code = ckpt_shared_map(win);
    }
    /* No rank goes on before all have filled their memory. */
    return code == MPI_SUCCESS
               ? CKPT_FUNCTION(Barrier)(CKPT_LOWER(win->comm))
               : code;
}

int ckpt_windows_rebuild(void)
{
    MPI_Win win = next_to_rebuild(0);
    int code = MPI_SUCCESS;

    for (; win != NULL && code == MPI_SUCCESS;
         win = next_to_rebuild(win->comm->id)) {
        uintptr_t upper = ckpt_enter();

        code = rebuild(win);
        ckpt_leave(upper);
    }
    return code;
}

int ckpt_windows_regions(struct ckpt_region *regions, int capacity)
{
    int count = 0;

    for (MPI_Win win = first_window(); win != NULL; win = window_after(win)) {
        if (win->shared == NULL || win->shared->count == 1) {
            continue; /* listed like all other memory */
        }
        if (count + 3 > capacity) {
            return -E2BIG;
        }
        count += ckpt_shared_regions(win, regions + count);
    }
    CKPT_INVARIANT(count <= capacity);
    return count;
}

/* ---- Displacements -------------------------------------------------------- */

int ckpt_window_owner(MPI_Win win, int rank)
{
    return win->shared == NULL || !win->shared->mapped || win->shared->apart
               ? rank
               : 0;
}

void ckpt_window_translate(MPI_Win win, int *target, MPI_Aint *place)
{
    const struct ckpt_segment *segment = &win->shared->segment[*target];

    if (win->shared->mapped && *place >= 0) {
        *place = *place * (MPI_Aint)segment->unit + segment->origin;
        *target = ckpt_window_owner(win, *target);
    }
}

/* ---- Epochs --------------------------------------------------------------- */

static int is_partner(const struct ckpt_partners *partners, int rank)
{
    for (int i = 0; partners->ranks != NULL && i < partners->count; i++) {
        if (partners->ranks[i] == rank) {
            return 1;
        }
    }
    return 0;
}

int ckpt_window_may_access(MPI_Win win, int rank)
{
    if (win->fence != CKPT_FENCE_NONE) {
        win->fence = CKPT_FENCE_USED;
        return 1;
    }
    return win->locked_all != CKPT_LOCK_NONE ||
           win->locked[rank] != CKPT_LOCK_NONE || win->lenient ||
           is_partner(&win->access, rank);
}
