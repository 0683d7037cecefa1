/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective.h - the collective clock and its gate.
 *
 * Every blocking collective is one lower-half call (cut/collectives/nonblocking.h handles the
 * others). Each communicator counts the collectives that this rank has entered and left.
 * A cut is taken only where all members have left the same number. A rank may be inside
 * a collective that no member has left. Such a rank may be saved as if it had not
 * entered: a restart enters the call again from the context captured here. Cost without
 * a checkpoint: two increments and saving eight registers.
 */
#ifndef CKPT_COLLECTIVE_H
#define CKPT_COLLECTIVE_H

#include "handles/communicator.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"
#include "runtime/uncovered.h"
#include "task/threads.h"

#include <mpi.h>

/* The blocking collective this thread is in; valid in state COLLECTIVE. */
struct ckpt_collective {
    struct ckpt_context again; /* where a restart enters the call again */
    MPI_Comm communicator;
    int redo; /* CKPT_COLLECTIVE_REDO or _ONCE */
};
extern struct ckpt_collective ckpt_collective
    __attribute__((visibility("hidden")));

/* With _ONCE the call may change its own input before it completes (a reduction with
 * MPI_IN_PLACE, for example), so a restart cannot enter it again. */
#define CKPT_COLLECTIVE_ONCE 0
#define CKPT_COLLECTIVE_REDO 1

/* Waits until this rank may enter another collective on `communicator`. Context: normal,
 * between ckpt_begin and ckpt_end. */
void ckpt_collective_gate(MPI_Comm communicator);

/* Implement ckpt_poll_failed() and ckpt_poll_succeeded() (runtime/crossing.h). */
void ckpt_gate_poll_failed(void);
void ckpt_gate_poll_succeeded(void);

/*
 * Does ckpt_begin() for a collective, and passes its gate. It looks at the gate after
 * ckpt_begin(): from there on the checkpoint signal's handler no longer shuts the gate.
 */
static inline __attribute__((always_inline)) void
ckpt_collective_begin(MPI_Comm communicator)
{
    ckpt_begin();
    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_collective_gate(communicator);
    }
}

/* Returns whether a blocking collective must run as its nonblocking form and a wait. The
 * ranks agree on that only within their job, so a communicator with other jobs'
 * processes never splits. */
static inline int ckpt_collective_is_split(MPI_Comm communicator)
{
    return __builtin_expect(ckpt_collectives_split, 0) && !communicator->foreign;
}

/* Bytes to exchange where a collective needs no data. Their values have no meaning. */
extern char ckpt_something[2] __attribute__((visibility("hidden")));

/* Stops here if a checkpoint waits for this rank to leave a collective. */
void ckpt_collective_left(void);

/* Called after a restart, where the rank enters the collective again. Until here all
 * signals are blocked, as in the handler in which the rank was saved. */
void ckpt_collective_again(void);

/* Marks the place where a restart enters the call again. */
#define CKPT_COLLECTIVE_ENTRY()                                            \
    do {                                                                   \
        if (__builtin_expect(ckpt_context_capture(&ckpt_collective.again), \
                             0)) {                                         \
            ckpt_collective_again();                                       \
        }                                                                  \
    } while (0)

static inline __attribute__((always_inline)) void
ckpt_collective_set(MPI_Comm communicator, int redo)
{
    if (__builtin_expect(ckpt_recipes_missing, 0)) {
        ckpt_recipes_catch_up();
    }
    ckpt_collective_begin(communicator);
    ckpt_collective.communicator = communicator;
    ckpt_collective.redo = redo;
    ckpt_replay_look(); /* other ranks may wait to see this rank's stores in windows */
    ckpt_state = CKPT_STATE_COLLECTIVE;
    ckpt_uncovered_begin();
    communicator->clock->entered++; /* from here on the rank is inside */
    ckpt_let_others();
}

/* Counts a blocking collective as left; a restart does not enter it again. */
static inline __attribute__((always_inline)) void
ckpt_clock_leave(struct ckpt_clock *clock)
{
    ckpt_uncovered_end();
    clock->left++;
    __asm__ volatile("" ::
                         : "memory"); /* the agent reads both */
    clock->settled = clock->left;
}

/*
 * Runs a blocking collective on `comm` (an object of ours, not a null handle):
 * `function(...)` runs with the lower thread pointer. A restart may come back to this
 * point with all local variables of the calling function as they were. So only
 * lower-half code and local variables may change between here and ckpt_clock_leave().
 */
#define CKPT_COLLECTIVE_RUN(result, comm, redo_flag, function, ...) \
    do {                                                            \
        uintptr_t upper_;                                           \
        CKPT_COLLECTIVE_ENTRY();                                    \
        ckpt_collective_set((comm), (redo_flag));                   \
        upper_ = ckpt_enter_to_wait();                              \
        (result) = function(__VA_ARGS__);                           \
        ckpt_clock_leave((comm)->clock); /* from here on: left */   \
        ckpt_leave(upper_);                                         \
        ckpt_state = CKPT_STATE_CRITICAL;                           \
    } while (0)

/* The same for a single function of the lower half. */
#define CKPT_COLLECTIVE_CALL(result, comm, redo_flag, name, ...)      \
    CKPT_COLLECTIVE_RUN(result, comm, redo_flag, CKPT_FUNCTION(name), \
                        __VA_ARGS__)

/*
 * The same for a collective of several lower-half calls. A restart may enter it again
 * and evaluates its arguments again. So it must not depend on the results of an
 * unfinished run.
 */
#define CKPT_COLLECTIVE_SECTION(result, comm, function, ...)          \
    CKPT_COLLECTIVE_RUN(result, comm, CKPT_COLLECTIVE_REDO, function, \
                        __VA_ARGS__)

/*
 * Starts a nonblocking collective that a restart cannot begin again (on a file). It
 * passes the gate and counts as left at once. All members complete it before a cut.
 */
#define CKPT_COLLECTIVE_START(result, comm, name, ...) \
    do {                                               \
        uintptr_t upper_;                              \
        ckpt_collective_begin(comm);                   \
        upper_ = ckpt_enter();                         \
        (result) = CKPT_FUNCTION(name)(__VA_ARGS__);   \
        ckpt_uncovered_begin();                        \
        (comm)->clock->entered++;                      \
        ckpt_clock_leave((comm)->clock);               \
        ckpt_leave(upper_);                            \
    } while (0)

#endif
