/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective.h - the collective clock and its gate.
 *
 * Every blocking collective is one lower-half call (for the others see
 * cut/nonblocking.h). Each communicator counts
 * the collectives this rank has entered and left; a cut is taken only where
 * all members have left the same number. A rank found inside a collective that
 * no member has left may be saved as not yet inside: a restart enters the call
 * again from the context captured here. Failure-free cost: two increments and
 * the saving of eight registers.
 */
#ifndef CKPT_COLLECTIVE_H
#define CKPT_COLLECTIVE_H

#include "handles/communicator.h"
#include "independent/page.h"
#include "independent/replay.h"
#include "runtime/crossing.h"
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

/* The call may change its own input before it is complete (MPI_IN_PLACE with
 * a reduction, say): it cannot be entered again. */
#define CKPT_COLLECTIVE_ONCE 0
#define CKPT_COLLECTIVE_REDO 1

/* Objects have been made since whose recipes are not written down. A rank that is
 * inside a collective cannot do that any more, so it is done before. */
extern int ckpt_recipes_missing __attribute__((visibility("hidden")));
void ckpt_recipes_catch_up(void);

/* Waits until this rank may enter another collective on `communicator`.
 * Context: normal, between ckpt_begin and ckpt_end. */
void ckpt_collective_gate(MPI_Comm communicator);

/*
 * ckpt_begin() for a collective, at its gate. The gate is looked at behind ckpt_begin():
 * from there on the handler of the checkpoint signal does not shut it any more.
 */
static inline __attribute__((always_inline)) void
ckpt_collective_begin(MPI_Comm communicator)
{
    ckpt_begin();
    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_collective_gate(communicator);
    }
}

/* Whether a blocking collective has to be its nonblocking form and a wait.
 * With processes of other jobs no such thing is agreed. */
static inline int ckpt_collective_is_split(MPI_Comm communicator)
{
    return __builtin_expect(ckpt_collectives_split, 0) && !communicator->foreign;
}

/* For members that exchange a byte instead of nothing; what is in it means
 * nothing. */
extern char ckpt_something[2] __attribute__((visibility("hidden")));

/* Stops here if a checkpoint waits for this rank to have left a collective. */
void ckpt_collective_left(void);

/* After a restart, where the collective is entered again: until here all
 * signals were blocked, as in the handler that the image was taken in. */
void ckpt_collective_again(void);

/* Marks the place where a restart enters the call again. */
#define CKPT_COLLECTIVE_ENTRY()                                                \
    do {                                                                       \
        if (__builtin_expect(ckpt_context_capture(&ckpt_collective.again),     \
                             0)) {                                             \
            ckpt_collective_again();                                           \
        }                                                                      \
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
    ckpt_replay_look(); /* others may want to see in windows what this rank has stored */
    ckpt_state = CKPT_STATE_COLLECTIVE;
    ckpt_uncovered_begin();
    communicator->clock->entered++; /* from here on: inside */
    ckpt_let_others();
}

/* A blocking collective is left, and cannot be entered again. */
static inline __attribute__((always_inline)) void
ckpt_clock_leave(struct ckpt_clock *clock)
{
    ckpt_uncovered_end();
    clock->left++;
    __asm__ volatile("" ::: "memory"); /* the agent reads both */
    clock->settled = clock->left;
}

/*
 * A blocking collective on `comm` (an object of ours, not a null handle):
 * `function(...)` runs with the lower thread pointer. A restart may come back
 * to this point with all local variables of the calling function as they were:
 * nothing but lower-half code and local variables may change between here and
 * ckpt_clock_leave().
 */
#define CKPT_COLLECTIVE_RUN(result, comm, redo_flag, function, ...)            \
    do {                                                                       \
        uintptr_t upper_;                                                      \
        CKPT_COLLECTIVE_ENTRY();                                               \
        ckpt_collective_set((comm), (redo_flag));                              \
        upper_ = ckpt_enter_to_wait();                                         \
        (result) = function(__VA_ARGS__);                                      \
        ckpt_clock_leave((comm)->clock); /* from here on: left */              \
        ckpt_leave(upper_);                                                    \
        ckpt_state = CKPT_STATE_CRITICAL;                                      \
    } while (0)

/* The same for one function of the lower half. */
#define CKPT_COLLECTIVE_CALL(result, comm, redo_flag, name, ...)               \
    CKPT_COLLECTIVE_RUN(result, comm, redo_flag, CKPT_FUNCTION(name),          \
                        __VA_ARGS__)

/*
 * The same for what takes several lower-half calls. It may be entered again,
 * with its arguments evaluated anew, so it must not depend on what an unfinished
 * run has done.
 */
#define CKPT_COLLECTIVE_SECTION(result, comm, function, ...)                   \
    CKPT_COLLECTIVE_RUN(result, comm, CKPT_COLLECTIVE_REDO, function,          \
                        __VA_ARGS__)

/*
 * Starts a nonblocking collective that a restart cannot begin again (on a file):
 * passes the gate and counts as left at once. All members complete it before a
 * cut.
 */
#define CKPT_COLLECTIVE_START(result, comm, name, ...)                         \
    do {                                                                       \
        uintptr_t upper_;                                                      \
        ckpt_collective_begin(comm);                                           \
        upper_ = ckpt_enter();                                                 \
        (result) = CKPT_FUNCTION(name)(__VA_ARGS__);                           \
        ckpt_uncovered_begin();                                                \
        (comm)->clock->entered++;                                              \
        ckpt_clock_leave((comm)->clock);                                       \
        ckpt_leave(upper_);                                                    \
    } while (0)

#endif
