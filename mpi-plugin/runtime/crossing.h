/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crossing.h - a call from the upper half into the lower half.
 *
 * A crossing is two thread-pointer writes around one indirect call. Every wrapper runs
 * between ckpt_begin() and ckpt_end(). A checkpoint signal that arrives in between only
 * sets ckpt_pending, and ckpt_end() checks it. So a checkpoint never loses a lower-half
 * handle between its creation and its recording.
 */
#ifndef CKPT_CROSSING_H
#define CKPT_CROSSING_H

#include "lower/lower.h"
#include "runtime/thread_context.h"
#include "sys/thread_pointer.h"

#include "functions.h" /* generated: enum ckpt_function { CKPT_FN_Send, ... } */

#pragma GCC visibility push(hidden) /* one load instead of two */

extern struct ckpt_lower ckpt_lower;
extern void *ckpt_lower_function[]; /* by enum ckpt_function; never NULL: a missing function
                                       returns an error code */

/* The present activity of the MPI thread, for the checkpoint signal's handler. */
enum ckpt_state {
    CKPT_STATE_IDLE = 0,   /* in the application */
    CKPT_STATE_CRITICAL,   /* in a wrapper that cannot be interrupted */
    CKPT_STATE_WAITING,    /* in a wait loop of ckpt-host, which polls pending */
    CKPT_STATE_COLLECTIVE, /* see cut/collectives/collective.h */
    CKPT_STATE_SERVICE,    /* taking part in a checkpoint */
};
extern volatile int ckpt_state;

/* Non-zero while the agent has a message or the gate is closed. Always non-zero if several
 * threads may be in MPI at once: a waiting thread must release the lock for the others. The
 * wait loops of ckpt-host poll it. */
extern volatile int ckpt_pending;

/* Non-zero if beginning and ending a call takes more than a store: several threads may call
 * MPI, application code runs inside a call, or MPI has not begun or has ended. */
#define CKPT_SLOW_THREADS  1 /* one at a time (SERIALIZED) */
#define CKPT_SLOW_CALLBACK 2
#define CKPT_SLOW_OUTSIDE  4
#define CKPT_SLOW_MULTIPLE 8 /* at once: runtime/thread_context.h */
extern int ckpt_slow_path;
void ckpt_begin_long(void);
void ckpt_end_long(void);

/* Ends the program: an MPI function was called before MPI_Init or after
 * MPI_Finalize. Context: normal. */
void ckpt_outside(const char *function) __attribute__((noreturn));

/* Called once, by MPI_Init_thread, if the level is SERIALIZED or higher. */
void ckpt_allow_threads(void);

/* Checks the agent's connection; may take part in a checkpoint. Called with state IDLE or
 * in the signal handler. */
void ckpt_service(void);

/* While the gate is closed: count an unsuccessful test or wait, and a successful one.
 * After many unsuccessful ones the agent learns that this rank waits. */
void ckpt_poll_failed(void);
void ckpt_poll_succeeded(void);

#pragma GCC visibility pop

static inline __attribute__((always_inline)) void ckpt_begin(void)
{
    if (__builtin_expect(ckpt_slow_path, 0)) {
        ckpt_begin_long();
    } else {
        ckpt_state = CKPT_STATE_CRITICAL;
    }
}

static inline __attribute__((always_inline)) void ckpt_end(void)
{
    if (__builtin_expect(ckpt_slow_path, 0)) {
        ckpt_end_long();
    } else {
        ckpt_state = CKPT_STATE_IDLE;
    }
    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_service();
    }
}

/* One unsuccessful turn of a wait loop between ckpt_begin and ckpt_end. If the agent has asked for
 * something, the rank answers: the data of the plugin may be different afterwards. */
static inline void ckpt_wait_turn(void)
{
    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_end();
        ckpt_poll_failed();
        ckpt_begin();
    }
}

/* The end of such a loop. */
static inline void ckpt_wait_over(void)
{
    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_poll_succeeded();
    }
}

/* As ckpt_end, but does not check ckpt_pending. */
static inline void ckpt_end_quietly(void)
{
    if (ckpt_slow_path) {
        ckpt_end_long();
    } else {
        ckpt_state = CKPT_STATE_IDLE;
    }
}

/* Sets the lower thread pointer; code up to ckpt_leave must not use TLS. */
static inline __attribute__((always_inline)) uintptr_t ckpt_enter(void)
{
    uintptr_t upper = ckpt_thread_pointer_load();
    struct ckpt_halves *halves = &ckpt_halves[0];

    if (__builtin_expect(ckpt_multiple, 0)) {
        struct ckpt_thread_context *context = ckpt_thread_context_get();

        context->below++;
        halves = context->halves;
    }
    halves->upper = upper;
    ckpt_thread_pointer_set(halves->lower);
    return upper;
}

static inline __attribute__((always_inline)) void ckpt_leave(uintptr_t upper)
{
    ckpt_thread_pointer_set(upper);
    if (__builtin_expect(ckpt_multiple, 0)) {
        ckpt_thread_context_own->below--;
        if (ckpt_thread_context_own->open) {
            ckpt_thread_context_close();
        }
    }
}

/* Makes this thread check for messages of the agent, as if the checkpoint signal arrived
 * now. Context: any; the thread pointer may be the lower one. */
void ckpt_notice(void) __attribute__((cold, visibility("hidden")));

/* As ckpt_enter, for a call that may have to wait for other ranks. A checkpoint signal may
 * have come after the last check of ckpt_pending. It has only set ckpt_pending, which this
 * thread would not check before the call returns. From here on the handler answers. */
static inline __attribute__((always_inline)) uintptr_t ckpt_enter_to_wait(void)
{
    const uintptr_t upper = ckpt_enter();

    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_notice();
    }
    return upper;
}

/* Called before ckpt_enter for a call that may have to wait for other ranks: opens the
 * context. */
static inline void ckpt_let_others(void)
{
    if (__builtin_expect(ckpt_multiple, 0)) {
        ckpt_thread_context_open();
    }
}

/* The lower half's PMPI_<name>, with its type from mpi.h. */
#define CKPT_FUNCTION(name) \
    ((__typeof__(&PMPI_##name))ckpt_lower_function[CKPT_FN_##name])

/* Calls PMPI_<name> of the lower half and assigns its result to `result`. Only between
 * ckpt_begin and ckpt_end. If the call may have to wait for others, all our structures must
 * be consistent. */
#define CKPT_CALL(result, name, ...)                                         \
    do {                                                                     \
        uintptr_t upper_;                                                    \
        if (CKPT_MAY_WAIT_##name) {                                          \
            ckpt_let_others();                                               \
        }                                                                    \
        upper_ = CKPT_MAY_WAIT_##name ? ckpt_enter_to_wait() : ckpt_enter(); \
        (result) = CKPT_FUNCTION(name)(__VA_ARGS__);                         \
        ckpt_leave(upper_);                                                  \
    } while (0)

#endif
