/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_passive.c - passive target synchronisation (MPI 3.1, sections 11.5.3
 * and 11.5.4): locks and flushes.
 *
 * Each rank has a word that counts the holders of its lock: one EXCLUSIVE
 * holder, or any number of shared ones. MPI_Win_lock_all would have to take all
 * of these. Instead one word of rank 0 counts it, and a rank that wants an
 * exclusive lock announces that there. A rank never waits while it has an
 * announcement there. If it cannot get a lock it takes the announcement back,
 * and tries again after a service of the agent.
 */
#include "handles/message_log.h"
#include "base/invariant.h"
#include "handles/request.h"
#include "independent/calls/sync.h"
#include "independent/delivery.h"
#include "wrap/window_wrapper.h"

#include <sched.h>

#define EXCLUSIVE  (UINT64_C(1) << 32) /* an exclusive holder, in a rank's word */
#define EVERYWHERE (UINT64_C(1) << 32) /* a holder of all locks, in rank 0's */

/* ---- Words ---------------------------------------------------------------- */

/* Adds to a word of a rank; *before receives the old value. */
static int add(MPI_Win win, int rank, MPI_Aint word, uint64_t value,
               uint64_t *before)
{
    int code;

    CKPT_INVARIANT(win->locks != NULL && word < CKPT_LOCK_WORDS);
    CKPT_CALL(code, Fetch_and_op, &value, before, CKPT_LOWER(MPI_UINT64_T),
              rank, word, CKPT_LOWER(MPI_SUM), win->locks);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Win_flush, rank, win->locks);
    }
    return code;
}

static int subtract(MPI_Win win, int rank, MPI_Aint word, uint64_t value)
{
    uint64_t ignored;

    return add(win, rank, word, -value, &ignored);
}

/* Each of these tries once; *taken is 1 if it has the lock. */

static int try_shared(MPI_Win win, int rank, int *taken)
{
    uint64_t before = 0;
    int code = add(win, rank, CKPT_LOCK_WORD_OWN, 1, &before);

    *taken = before < EXCLUSIVE;
    if (code == MPI_SUCCESS && !*taken) {
        code = subtract(win, rank, CKPT_LOCK_WORD_OWN, 1);
    }
    return code;
}

static int try_all(MPI_Win win, int rank, int *taken)
{
    uint64_t before = 0;
    int code = add(win, 0, CKPT_LOCK_WORD_ALL, EVERYWHERE, &before);

    (void)rank;
    *taken = before % EVERYWHERE == 0;
    if (code == MPI_SUCCESS && !*taken) {
        code = subtract(win, 0, CKPT_LOCK_WORD_ALL, EVERYWHERE);
    }
    return code;
}

/* Does not use compare-and-swap: Open MPI 4.1 crashes when a rank swaps in its
 * own memory. */
static int try_free_word(MPI_Win win, int rank, int *taken)
{
    uint64_t before = 0;
    int code = add(win, rank, CKPT_LOCK_WORD_OWN, EXCLUSIVE, &before);

    *taken = before == 0;
    if (code == MPI_SUCCESS && !*taken) {
        code = subtract(win, rank, CKPT_LOCK_WORD_OWN, EXCLUSIVE);
    }
    return code;
}

static int try_exclusive(MPI_Win win, int rank, int *taken)
{
    uint64_t before = 0;
    int code = add(win, 0, CKPT_LOCK_WORD_ALL, 1, &before);

    *taken = 0;
    if (code == MPI_SUCCESS && before < EVERYWHERE) {
        code = try_free_word(win, rank, taken);
    }
    if (code == MPI_SUCCESS && !*taken) {
        code = subtract(win, 0, CKPT_LOCK_WORD_ALL, 1);
    }
    return code;
}

/* Tries until it has the lock; a checkpoint may be taken between two attempts.
 * Between begin and end. */
static int take(MPI_Win win, int rank, int (*attempt)(MPI_Win, int, int *))
{
    int taken = 0, code;

    while ((code = attempt(win, rank, &taken)) == MPI_SUCCESS && !taken) {
        ckpt_log_progress(); /* the holder may need progress to release it */
        ckpt_end();
        ckpt_poll_failed();
        sched_yield();
        ckpt_begin();
    }
    ckpt_wait_over();
    return code;
}

/* ---- One rank's lock ------------------------------------------------------ */

static int check_rank(MPI_Win win, int rank)
{
    return rank < 0 || rank >= win->comm->size ? MPI_ERR_RANK : MPI_SUCCESS;
}

static int check_lock(int type, int rank, int assert, MPI_Win win)
{
    int code;

    if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED) {
        return MPI_ERR_LOCKTYPE;
    }
    code = check_rank(win, rank);
    if (code == MPI_SUCCESS) {
        code = ckpt_check_assert(assert, MPI_MODE_NOCHECK);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (win->locks == NULL || win->locked[rank] != CKPT_LOCK_NONE ||
        win->access.ranks != NULL ||
        (!win->lenient && win->fence == CKPT_FENCE_USED) ||
        (win->locked_all != CKPT_LOCK_NONE && type == MPI_LOCK_EXCLUSIVE)) {
        return MPI_ERR_RMA_SYNC;
    }
    return MPI_SUCCESS;
}

int PMPI_Win_lock(int type, int rank, int assert, MPI_Win win)
{
    enum ckpt_lock lock = CKPT_LOCK_UNCHECKED;
    int code = MPI_SUCCESS;

    CKPT_REQUIRE_WINDOW(win, check_lock(type, rank, assert, win),
                        "MPI_Win_lock");
    ckpt_begin();
    if ((assert &MPI_MODE_NOCHECK) == 0) {
        lock = type == MPI_LOCK_EXCLUSIVE ? CKPT_LOCK_EXCLUSIVE
                                          : CKPT_LOCK_SHARED;
    }
    if (win->independent != NULL) {
        code = ckpt_sync_lock(win, rank, lock);
    } else if (lock != CKPT_LOCK_UNCHECKED) {
        code = take(win, rank,
                    lock == CKPT_LOCK_EXCLUSIVE ? try_exclusive : try_shared);
    }
    if (code == MPI_SUCCESS) {
        win->locked[rank] = (uint8_t)lock;
        CKPT_INVARIANT(win->locked_count < win->comm->size);
        win->locked_count++;
        win->fence = CKPT_FENCE_NONE;
        code = ckpt_window_sync_memory(win);
    }
    CKPT_RETURN(win, code, "MPI_Win_lock");
}
CKPT_ALIAS(Win_lock);

static int flush_rank(MPI_Win win, int rank)
{
    int code = MPI_SUCCESS;

    CKPT_INVARIANT(win->dirty >= CKPT_DIRTY_MANY && win->dirty < win->comm->size);
    if (win->dirty == rank || win->dirty == CKPT_DIRTY_MANY) {
        CKPT_CALL(code, Win_flush, ckpt_window_owner(win, rank),
                  CKPT_LOWER(win));
    }
    if (win->dirty == rank) {
        win->dirty = CKPT_DIRTY_NONE;
    }
    return code;
}

static int give_back(MPI_Win win, int rank)
{
    int code;

    switch (win->locked[rank]) {
    case CKPT_LOCK_SHARED:
        return subtract(win, rank, CKPT_LOCK_WORD_OWN, 1);
    case CKPT_LOCK_EXCLUSIVE:
        code = subtract(win, rank, CKPT_LOCK_WORD_OWN, EXCLUSIVE);
        return code == MPI_SUCCESS ? subtract(win, 0, CKPT_LOCK_WORD_ALL, 1)
                                   : code;
    default:
        CKPT_INVARIANT(win->locked[rank] == CKPT_LOCK_UNCHECKED);
        return MPI_SUCCESS;
    }
}

static int check_unlock(MPI_Win win, int rank)
{
    int code = check_rank(win, rank);

    return code == MPI_SUCCESS && win->locked[rank] == CKPT_LOCK_NONE
               ? MPI_ERR_RMA_SYNC
               : code;
}

int PMPI_Win_unlock(int rank, MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_unlock(win, rank), "MPI_Win_unlock");
    ckpt_begin();
    code = ckpt_window_sync_memory(win);
    if (win->independent != NULL) {
        code = ckpt_sync_unlock(win, rank);
    } else {
        if (code == MPI_SUCCESS) {
            code = flush_rank(win, rank);
        }
        if (code == MPI_SUCCESS) {
            code = give_back(win, rank);
        }
    }
    win->locked[rank] = CKPT_LOCK_NONE;
    CKPT_INVARIANT(win->locked_count > 0);
    win->locked_count--;
    CKPT_RETURN(win, code, "MPI_Win_unlock");
}
CKPT_ALIAS(Win_unlock);

/* ---- All locks ------------------------------------------------------------ */

static int check_lock_all(int assert, MPI_Win win)
{
    int code = ckpt_check_assert(assert, MPI_MODE_NOCHECK);

    if (code == MPI_SUCCESS &&
        (win->locks == NULL || win->locked_all != CKPT_LOCK_NONE ||
         win->access.ranks != NULL ||
         (!win->lenient && win->fence == CKPT_FENCE_USED))) {
        code = MPI_ERR_RMA_SYNC;
    }
    return code;
}

int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    enum ckpt_lock lock;
    int code = MPI_SUCCESS;

    CKPT_REQUIRE_WINDOW(win, check_lock_all(assert, win), "MPI_Win_lock_all");
    ckpt_begin();
    lock = assert &MPI_MODE_NOCHECK ? CKPT_LOCK_UNCHECKED : CKPT_LOCK_SHARED;
    if (win->independent != NULL) {
        code = ckpt_sync_lock_all(win, lock);
    } else if (lock == CKPT_LOCK_SHARED) {
        code = take(win, 0, try_all);
    }
    if (code == MPI_SUCCESS) {
        win->locked_all = lock;
        win->fence = CKPT_FENCE_NONE;
        code = ckpt_window_sync_memory(win);
    }
    CKPT_RETURN(win, code, "MPI_Win_lock_all");
}
CKPT_ALIAS(Win_lock_all);

int PMPI_Win_unlock_all(MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(
        win,
        win->locked_all == CKPT_LOCK_NONE ? MPI_ERR_RMA_SYNC : MPI_SUCCESS,
        "MPI_Win_unlock_all");
    ckpt_begin();
    code = ckpt_window_sync_memory(win);
    if (win->independent != NULL) {
        code = ckpt_sync_unlock_all(win);
    } else {
        if (code == MPI_SUCCESS) {
            code = ckpt_window_flush(win);
        }
        if (code == MPI_SUCCESS && win->locked_all == CKPT_LOCK_SHARED) {
            code = subtract(win, 0, CKPT_LOCK_WORD_ALL, EVERYWHERE);
        }
    }
    win->locked_all = CKPT_LOCK_NONE;
    CKPT_RETURN(win, code, "MPI_Win_unlock_all");
}
CKPT_ALIAS(Win_unlock_all);

/* ---- Flushes -------------------------------------------------------------- */

static int check_passive(MPI_Win win)
{
    return win->lenient || win->locked_all != CKPT_LOCK_NONE ||
                   win->locked_count > 0
               ? MPI_SUCCESS
               : MPI_ERR_RMA_SYNC;
}

static int check_flush(MPI_Win win, int rank)
{
    const int code = check_rank(win, rank);

    if (win->locked_all != CKPT_LOCK_NONE) {
        return code;
    }
    return code == MPI_SUCCESS &&
                   (win->lenient || win->locked[rank] != CKPT_LOCK_NONE)
               ? MPI_SUCCESS
               : MPI_ERR_RMA_SYNC;
}

/*
 * A program that waits for a value in memory calls one of these functions
 * repeatedly. The agent must know that it may be waiting for another rank.
 */
static void note_failed_poll(void)
{
    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_poll_failed();
    }
}

static int flush_one(int rank, MPI_Win win, const char *name)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_flush(win, rank), name);
    ckpt_begin();
    code = win->independent != NULL ? ckpt_deliver(win, rank)
                                    : flush_rank(win, rank);
    if (code == MPI_SUCCESS) {
        code = ckpt_window_sync_memory(win);
    }
    note_failed_poll();
    CKPT_RETURN(win, code, name);
}

static int flush_all(MPI_Win win, const char *name)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_passive(win), name);
    ckpt_begin();
    code = win->independent != NULL ? ckpt_deliver_all(win)
                                    : ckpt_window_flush(win);
    if (code == MPI_SUCCESS) {
        code = ckpt_window_sync_memory(win);
    }
    note_failed_poll();
    CKPT_RETURN(win, code, name);
}

int PMPI_Win_flush(int rank, MPI_Win win)
{
    return flush_one(rank, win, "MPI_Win_flush");
}
CKPT_ALIAS(Win_flush);

int PMPI_Win_flush_all(MPI_Win win)
{
    return flush_all(win, "MPI_Win_flush_all");
}
CKPT_ALIAS(Win_flush_all);

int PMPI_Win_sync(MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, MPI_SUCCESS, "MPI_Win_sync");
    ckpt_begin();
    code = ckpt_window_sync_memory(win);
    if (win->independent != NULL) {
        code = ckpt_sync_memory();
    }
    note_failed_poll();
    CKPT_RETURN(win, code, "MPI_Win_sync");
}
CKPT_ALIAS(Win_sync);

/* Completes at the origin only: operations still under way stay marked. */

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_flush(win, rank), "MPI_Win_flush_local");
    ckpt_begin();
    CKPT_CALL(code, Win_flush_local, ckpt_window_owner(win, rank),
              CKPT_LOWER(win));
    note_failed_poll();
    CKPT_RETURN(win, code, "MPI_Win_flush_local");
}
CKPT_ALIAS(Win_flush_local);

int PMPI_Win_flush_local_all(MPI_Win win)
{
    int code;

    CKPT_REQUIRE_WINDOW(win, check_passive(win), "MPI_Win_flush_local_all");
    ckpt_begin();
    CKPT_CALL(code, Win_flush_local_all, CKPT_LOWER(win));
    note_failed_poll();
    CKPT_RETURN(win, code, "MPI_Win_flush_local_all");
}
CKPT_ALIAS(Win_flush_local_all);
