/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback.c - the slow path into a call: for threads one at a time (thread_context.c
 * handles simultaneous threads), and for calls from application code that runs
 * inside a call.
 */
#define _GNU_SOURCE
#include "runtime/callback.h"

#include "base/invariant.h"
#include "runtime/crossing.h"
#include "runtime/state.h"
#include "sys/syscall.h"
#include "task/program_clock.h"
#include "task/threads.h"

#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <string.h>

int ckpt_slow_path = CKPT_SLOW_OUTSIDE;

/* The thread that runs application code inside a call, and the state of that
 * call. */
static uintptr_t callback_thread;
static int callback_state;

/* Number of threads that wait for ckpt_state to be idle; ckpt_state is also the
 * lock. */
static int waiters;

/* The thread that has the lock; 0 if none has, and briefly while the lock changes
 * hands. */
static int owner;

/* The calling thread's id, which a restart changes. */
static __thread struct {
    int tid;
    uint32_t restarts;
} self __attribute__((tls_model("initial-exec")));

static int own_tid(void)
{
    const uint32_t restarts = ckpt_clock_restarts();

    if (self.tid == 0 || self.restarts != restarts) {
        self.tid = ckpt_sys_gettid();
        self.restarts = restarts;
    }
    return self.tid;
}

void ckpt_allow_threads(void)
{
    ckpt_slow_path |= ckpt_multiple ? CKPT_SLOW_MULTIPLE : CKPT_SLOW_THREADS;
    ckpt_pending = ckpt_multiple;
}

int ckpt_in_callback(void)
{
    return callback_thread != 0 && callback_thread == ckpt_thread_pointer_load();
}

/* Application code may wait for another thread, which may wait for the lock. So
 * the code runs without the lock. */
static void enter_multiple(struct ckpt_callback *outer)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    if (context->serving) {
        ckpt_thread_context_offer();
    } else {
        ckpt_thread_context_open();
    }
    *outer = (struct ckpt_callback){
        .state = context->open,
        .serving = context->serving,
        .offers = context->serving && context->offers};
    context->open = 0;
    context->serving = 0;
}

/* An operation returns into the lower half, whose locks the thread may hold. So it
 * must not wait for our lock before it leaves the lower half. */
static void leave_multiple(const struct ckpt_callback *outer)
{
    ckpt_thread_context_own->serving = outer->serving;
    ckpt_thread_context_own->open =
        outer->offers ? ckpt_thread_context_offer_over() : outer->state;
    if (ckpt_thread_context_own->open && ckpt_thread_context_own->below == 0) {
        ckpt_thread_context_close();
    }
}

void ckpt_callback_enter(struct ckpt_callback *outer)
{
    if (ckpt_multiple) {
        enter_multiple(outer);
        return;
    }
    *outer = (struct ckpt_callback){.thread = callback_thread,
                                    .state = callback_state,
                                    .slow_path = ckpt_slow_path};
    CKPT_INVARIANT(ckpt_state != CKPT_STATE_IDLE); /* inside a call */
    callback_state = ckpt_state;
    callback_thread = ckpt_thread_pointer_load();
    ckpt_slow_path |= CKPT_SLOW_CALLBACK;
}

void ckpt_callback_leave(const struct ckpt_callback *outer)
{
    if (ckpt_multiple) {
        leave_multiple(outer);
        return;
    }
    CKPT_INVARIANT(callback_thread == ckpt_thread_pointer_load());
    ckpt_state = callback_state;
    callback_thread = outer->thread;
    callback_state = outer->state;
    ckpt_slow_path = outer->slow_path;
}

static void lock(void)
{
    int seen = CKPT_STATE_IDLE;

    while (!__atomic_compare_exchange_n(&ckpt_state, &seen, CKPT_STATE_CRITICAL,
                                        0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&waiters, 1, __ATOMIC_SEQ_CST);
        (void)ckpt_sys_futex((uint32_t *)&ckpt_state, FUTEX_WAIT_PRIVATE,
                             (uint32_t)seen, NULL);
        __atomic_fetch_sub(&waiters, 1, __ATOMIC_SEQ_CST);
        seen = CKPT_STATE_IDLE;
    }
    CKPT_INVARIANT(__atomic_load_n(&owner, __ATOMIC_RELAXED) == 0);
    __atomic_store_n(&owner, own_tid(), __ATOMIC_RELEASE);
}

static void unlock(void)
{
    CKPT_INVARIANT(__atomic_load_n(&ckpt_state, __ATOMIC_RELAXED) != CKPT_STATE_IDLE);
    __atomic_store_n(&owner, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&ckpt_state, CKPT_STATE_IDLE, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&waiters, __ATOMIC_SEQ_CST) != 0) {
        (void)ckpt_sys_futex((uint32_t *)&ckpt_state, FUTEX_WAKE_PRIVATE, 1,
                             NULL);
    }
}

static int has_lock(void)
{
    return (ckpt_slow_path & CKPT_SLOW_THREADS) != 0 && !ckpt_in_callback();
}

int ckpt_begin_service(void)
{
    int seen;

    if (!has_lock()) {
        ckpt_begin();
        ckpt_state = CKPT_STATE_SERVICE;
        return 1;
    }
    do {
        seen = CKPT_STATE_IDLE;
        if (__atomic_compare_exchange_n(&ckpt_state, &seen, CKPT_STATE_SERVICE, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            __atomic_store_n(&owner, own_tid(), __ATOMIC_RELEASE);
            return 1;
        }
        /* The thread that leaves its call reads these after it has set the
         * state. */
        __atomic_store_n(&ckpt_pending, 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&ckpt_checkpoint.signalled, 1, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&ckpt_state, __ATOMIC_SEQ_CST) == CKPT_STATE_IDLE);
    return 0;
}

static int is_inside(void)
{
    const int state = __atomic_load_n(&ckpt_state, __ATOMIC_SEQ_CST);

    return state == CKPT_STATE_CRITICAL || state == CKPT_STATE_COLLECTIVE;
}

void ckpt_notify_inside(void)
{
    int tid = 0;

    if (!has_lock()) {
        return;
    }
    while (is_inside() && (tid = __atomic_load_n(&owner, __ATOMIC_ACQUIRE)) == 0) {
        (void)ckpt_syscall3(SYS_sched_yield, 0, 0, 0); /* it is about to be set */
    }
    if (tid != 0 && tid != own_tid()) {
        ckpt_threads_notify(tid);
    }
}

/* Only MPI_T functions may be used at any time (MPI 3.1, section 8.7). Ends the
 * program for any other function. Its name is the exported symbol around the
 * caller. */
static void begin_outside(void *caller)
{
    const char *name = "MPI_(some)";
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (dladdr1(caller, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
        symbol != NULL && info.dli_sname != NULL &&
        (uintptr_t)caller - (uintptr_t)info.dli_saddr < symbol->st_size) {
        name = info.dli_sname + (strncmp(info.dli_sname, "PMPI_", 5) == 0);
    }
    if (strncmp(name, "MPI_T_", 6) != 0) {
        ckpt_outside(name);
    }
}

/* Begins a call on the slow path. A call from application code inside a call takes
 * no lock, as the outer call holds it. */
void ckpt_begin_long(void)
{
    if ((ckpt_slow_path & CKPT_SLOW_OUTSIDE) != 0) {
        begin_outside(__builtin_return_address(0));
        return;
    }
    if (ckpt_multiple) {
        ckpt_thread_context_lock();
        ckpt_state = CKPT_STATE_CRITICAL;
    } else if (ckpt_in_callback() ||
               (ckpt_slow_path & CKPT_SLOW_THREADS) == 0) {
        ckpt_state = CKPT_STATE_CRITICAL;
    } else {
        lock();
    }
}

void ckpt_end_long(void)
{
    if ((ckpt_slow_path & CKPT_SLOW_OUTSIDE) != 0) {
        return;
    }
    if (ckpt_multiple) {
        ckpt_thread_context_end();
    } else if (ckpt_in_callback()) {
        ckpt_state = callback_state;
    } else if ((ckpt_slow_path & CKPT_SLOW_THREADS) == 0) {
        ckpt_state = CKPT_STATE_IDLE;
    } else {
        unlock();
    }
}
