/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync.c - fences, post, start, complete and wait, barriers: counters in the record that
 * their writers only increase.
 *
 * A replayed rank writes the same values again: it keeps its own counts.
 */
#include "independent/calls/sync.h"

#include "base/invariant.h"
#include "independent/capture.h"
#include "independent/delivery.h"
#include "independent/fault_injection.h"
#include "independent/interval.h"
#include "independent/keep.h"
#include "independent/pause.h"
#include "independent/replay.h"

/* ---- Steps -------------------------------------------------------------------- */

/* Returns whether the next step was already taken, and so must not be taken again. Before
 * the step, an interval ends for stores to shared windows. If this rank has been replayed
 * up to here, it becomes live. */
static int is_past(void)
{
    ckpt_capture();
    ckpt_replay_look();
    return ckpt_replaying;
}

/* Makes a release: an interval ends. */
static void end_interval(void)
{
    ckpt_interval_publish();
    ckpt_interval_close();
}

static void raise_count(uint64_t *count, uint64_t value)
{
    CKPT_INVARIANT(__atomic_load_n(count, __ATOMIC_RELAXED) <= value); /* only this rank writes */
    __atomic_store_n(count, value, __ATOMIC_RELEASE);
}

static int has_reached(const uint64_t *count, uint64_t value)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE) >= value;
}

/* ---- Fences and barriers -------------------------------------------------------- */

static void await_fences(MPI_Win win)
{
    for (int i = 0; i < win->comm->size; i++) {
        while (!has_reached(&ckpt_record_target(win->independent->record, i)->fences,
                            win->independent->fences)) {
            ckpt_independent_pause();
        }
    }
}

int ckpt_sync_fence(MPI_Win win)
{
    struct ckpt_independent_window *one = win->independent;
    const int code = ckpt_deliver_all(win);

    one->fences++;
    if (!is_past()) {
        ckpt_keep_invite();
        raise_count(&ckpt_record_target(one->record, win->comm->rank)->fences, one->fences);
        ckpt_rank_fault_kill(CKPT_FAULT_AT_BARRIER);
        await_fences(win);
    }
    ckpt_interval_acquire();
    ckpt_keep_if_due_with_others();
    return code;
}

int ckpt_sync_barrier(void)
{
    static uint64_t barriers;

    barriers++;
    if (!is_past()) {
        ckpt_keep_invite();
        raise_count(&ckpt_independent_self->barriers, barriers);
        ckpt_rank_fault_kill(CKPT_FAULT_AT_BARRIER);
        for (int i = 0; i < ckpt_time_count; i++) {
            while (!has_reached(&ckpt_independent->rank[i].barriers, barriers)) {
                ckpt_independent_pause();
            }
        }
    }
    ckpt_interval_acquire();
    ckpt_keep_if_due_with_others();
    return MPI_SUCCESS;
}

/* ---- Post, start, complete, wait --------------------------------------------------- */

int ckpt_sync_post(MPI_Win win, const struct ckpt_partners *origins)
{
    struct ckpt_independent_window *one = win->independent;
    const int past = is_past();

    for (int i = 0; i < origins->count; i++) {
        const int origin = origins->ranks[i];

        one->posted[origin]++;
        if (!past) {
            raise_count(&ckpt_record_pair(one->record, origin, win->comm->rank)->posted,
                        one->posted[origin]);
        }
    }
    end_interval();
    return MPI_SUCCESS;
}

int ckpt_sync_start(MPI_Win win, const struct ckpt_partners *targets)
{
    struct ckpt_independent_window *one = win->independent;
    const int past = is_past();

    for (int i = 0; i < targets->count; i++) {
        const int target = targets->ranks[i];

        one->started[target]++;
        while (!past &&
               !has_reached(&ckpt_record_pair(one->record, win->comm->rank, target)->posted,
                            one->started[target])) {
            ckpt_independent_pause();
        }
    }
    ckpt_interval_acquire();
    return MPI_SUCCESS;
}

int ckpt_sync_complete(MPI_Win win, const struct ckpt_partners *targets)
{
    struct ckpt_independent_window *one = win->independent;
    const int code = ckpt_deliver_all(win);
    const int past = is_past();

    for (int i = 0; i < targets->count; i++) {
        const int target = targets->ranks[i];

        one->completed[target]++;
        CKPT_INVARIANT(one->completed[target] <= one->started[target]);
        if (!past) {
            raise_count(&ckpt_record_pair(one->record, win->comm->rank, target)->completed,
                        one->completed[target]);
        }
    }
    end_interval();
    ckpt_keep_if_due();
    return code;
}

/* Returns whether the i-th origin has ended the epoch that this rank waits for. */
static int has_completed(MPI_Win win, const struct ckpt_partners *origins, int i)
{
    const int origin = origins->ranks[i];

    return has_reached(
        &ckpt_record_pair(win->independent->record, origin, win->comm->rank)->completed,
        win->independent->heard[origin] + 1);
}

static void end_exposure(MPI_Win win, const struct ckpt_partners *origins)
{
    for (int i = 0; i < origins->count; i++) {
        const int origin = origins->ranks[i];

        win->independent->heard[origin]++;
        CKPT_INVARIANT(win->independent->heard[origin] <= win->independent->posted[origin]);
    }
    ckpt_interval_acquire();
    ckpt_keep_if_due();
}

int ckpt_sync_wait(MPI_Win win, const struct ckpt_partners *origins)
{
    const int past = is_past();

    for (int i = 0; i < origins->count && !past; i++) {
        while (!has_completed(win, origins, i)) {
            ckpt_independent_pause();
        }
    }
    end_exposure(win, origins);
    return MPI_SUCCESS;
}

int ckpt_sync_test(MPI_Win win, const struct ckpt_partners *origins, int *flag)
{
    if (is_past()) {
        *flag = ckpt_replay_answer();
    } else {
        *flag = 1;
        for (int i = 0; i < origins->count && *flag; i++) {
            *flag = has_completed(win, origins, i);
        }
        ckpt_event_answer(*flag);
    }
    if (*flag) {
        end_exposure(win, origins);
    }
    return MPI_SUCCESS;
}

/* ---- Locks ------------------------------------------------------------------------- */

static uint32_t *held(MPI_Win win, int target)
{
    return &ckpt_record_pair(win->independent->record, win->comm->rank, target)->held;
}

/* Returns whether other ranks' locks of a target permit this rank's lock. */
static int is_compatible(MPI_Win win, int target, enum ckpt_lock lock)
{
    for (int i = 0; i < win->comm->size; i++) {
        const uint32_t other = ckpt_record_pair(win->independent->record, i, target)->held;

        if (i != win->comm->rank && other != CKPT_LOCK_NONE &&
            (lock == CKPT_LOCK_EXCLUSIVE || other == CKPT_LOCK_EXCLUSIVE)) {
            return 0;
        }
    }
    return 1;
}

static int try_lock(MPI_Win win, int target, enum ckpt_lock lock)
{
    int taken;

    CKPT_INVARIANT(lock == CKPT_LOCK_SHARED || lock == CKPT_LOCK_EXCLUSIVE);
    ckpt_record_take(win, target);
    taken = is_compatible(win, target, lock);
    if (taken) {
        *held(win, target) = (uint32_t)lock;
    }
    ckpt_record_give(win, target);
    return taken;
}

static void give_back(MPI_Win win, int target)
{
    __atomic_store_n(held(win, target), CKPT_LOCK_NONE, __ATOMIC_RELEASE);
}

int ckpt_sync_lock(MPI_Win win, int target, enum ckpt_lock lock)
{
    if (!is_past() && lock != CKPT_LOCK_UNCHECKED) {
        while (!try_lock(win, target, lock)) {
            ckpt_independent_pause();
        }
        ckpt_rank_fault_kill(CKPT_FAULT_WITH_LOCK);
    }
    ckpt_interval_acquire();
    return MPI_SUCCESS;
}

int ckpt_sync_unlock(MPI_Win win, int target)
{
    int code;

    ckpt_rank_fault_kill(CKPT_FAULT_BEFORE_UNLOCK);
    code = ckpt_deliver(win, target);
    if (!is_past()) {
        ckpt_rank_fault_kill(CKPT_FAULT_AT_UNLOCK);
        give_back(win, target);
    }
    end_interval();
    ckpt_keep_if_due();
    return code;
}

/* Takes all locks or none: a rank that waits while it holds some could wait for ever. */
static int try_all(MPI_Win win, enum ckpt_lock lock)
{
    for (int i = 0; i < win->comm->size; i++) {
        if (!try_lock(win, i, lock)) {
            while (i-- > 0) {
                give_back(win, i);
            }
            return 0;
        }
    }
    return 1;
}

int ckpt_sync_lock_all(MPI_Win win, enum ckpt_lock lock)
{
    if (!is_past() && lock != CKPT_LOCK_UNCHECKED) {
        while (!try_all(win, lock)) {
            ckpt_independent_pause();
        }
    }
    ckpt_interval_acquire();
    return MPI_SUCCESS;
}

int ckpt_sync_unlock_all(MPI_Win win)
{
    const int code = ckpt_deliver_all(win);

    if (!is_past()) {
        for (int i = 0; i < win->comm->size; i++) {
            give_back(win, i);
        }
    }
    end_interval();
    ckpt_keep_if_due();
    return code;
}

int ckpt_sync_memory(void)
{
    (void)is_past();
    ckpt_interval_acquire();
    ckpt_keep_if_due();
    return MPI_SUCCESS;
}
