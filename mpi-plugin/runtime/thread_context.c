/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_context.c - contexts of threads, and the lock between them.
 */
#include "runtime/thread_context.h"

#include "base/invariant.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A thread that has waited for SPIN_TURNS turns sleeps between turns. Each
 * sleep is a little longer, so the thread is late by a fraction of its waiting
 * time. */
#define SPIN_TURNS     64
#define SLEEP_STEP_US  10
#define SLEEP_LIMIT_US 500

/* Time that a thread waits for the lock before it accepts the offer. */
#define OFFER_NS  10000000
#define SECOND_NS 1000000000

int ckpt_multiple;
int ckpt_collectives_split;
__thread struct ckpt_thread_context *ckpt_thread_context_own;

static struct ckpt_thread_context contexts[CKPT_HALVES_MAX];
static struct ckpt_thread_context *free_contexts;
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_exit; /* its destructor returns a thread's context */

/* A lent thread pointer that no context has yet: a new thread uses it to ask for
 * the next one. */
static uintptr_t spare;

/*
 * The lock is passed on in the order in which threads ask for it. A thread that
 * waits in a loop gives it up in each turn and asks again at once, and must not
 * shut out the others. Tickets that are 32 apart share a wake-up.
 */
static struct {
    uint32_t next;    /* ticket */
    uint32_t serving; /* futex: ticket of the owner */
    int open;         /* contexts; changed by the owner */
} lock;

/*
 * The service thread keeps the lock whatever it calls, so that the rank stands
 * still. But it may run an operation of the application, which may wait for a
 * thread that waits for the lock. Meanwhile the lock is on offer: a thread that
 * has waited long enough passes it to the next ticket. The rank then runs on,
 * and acts as if the service thread were in the lower half (cut/service/service.c).
 */
enum {
    NO_OFFER,
    OFFERED,
    TAKEN
};
static uint32_t offer;
static uint64_t times_taken;

static int change_offer(uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&offer, &from, to, 0, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

static uint32_t ticket_bit(uint32_t ticket)
{
    return UINT32_C(1) << (ticket & 31);
}

static void give(void)
{
    const uint32_t ticket = lock.serving + 1;

    CKPT_INVARIANT(__atomic_load_n(&lock.next, __ATOMIC_RELAXED) != lock.serving); /* is held */
    __atomic_store_n(&lock.serving, ticket, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&lock.next, __ATOMIC_SEQ_CST) != ticket) {
        (void)ckpt_syscall6(SYS_futex, (long)&lock.serving,
                            FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, 0, 0,
                            ticket_bit(ticket));
    }
}

/* Passes on the lock for the service thread, which is in application code. */
static void accept_offer(void)
{
    if (change_offer(OFFERED, TAKEN)) {
        lock.open++;
        times_taken++;
        ckpt_state = CKPT_STATE_IDLE;
        give();
    }
}

static void take(void)
{
    uint32_t ticket = __atomic_fetch_add(&lock.next, 1, __ATOMIC_SEQ_CST);
    struct timespec until;
    uint32_t now;

    while ((now = __atomic_load_n(&lock.serving, __ATOMIC_ACQUIRE)) != ticket) {
        long waited;

        ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &until); /* the host's clock */
        until.tv_nsec += OFFER_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
        waited = ckpt_syscall6(SYS_futex, (long)&lock.serving,
                               FUTEX_WAIT_BITSET_PRIVATE, now, (long)&until, 0,
                               ticket_bit(ticket));
        if (waited == -ETIMEDOUT) {
            accept_offer();
        }
    }
}

/* Asks ckpt-host for one more thread pointer. Context: with the lock. */
static int lend(uintptr_t *thread_pointer)
{
    uintptr_t upper = ckpt_enter();
    int error = ckpt_lower.lend(thread_pointer);

    ckpt_leave(upper);
    return error;
}

/* Gives a context its thread pointer. Context: with the lock. */
static int equip(struct ckpt_thread_context *context)
{
    if (context->halves->lower == 0) {
        context->halves->lower = spare;
        spare = 0;
    }
    if (context->halves->lower == 0) {
        return -EAGAIN;
    }
    if (spare == 0) {
        (void)lend(&spare); /* on failure the next thread gets the error */
    }
    return 0;
}

static void bring_back(void *context)
{
    ckpt_thread_context_wait_over();
    CKPT_INVARIANT(((struct ckpt_thread_context *)context)->depth == 0 &&
                   !((struct ckpt_thread_context *)context)->open);
    pthread_mutex_lock(&list_mutex);
    ((struct ckpt_thread_context *)context)->next_free = free_contexts;
    free_contexts = context;
    ckpt_thread_context_own = NULL;
    pthread_mutex_unlock(&list_mutex);
}

/* Returns a context that no thread has, or NULL. */
static struct ckpt_thread_context *find_context(void)
{
    struct ckpt_thread_context *context;

    pthread_mutex_lock(&list_mutex);
    context = free_contexts;
    if (context != NULL) {
        free_contexts = context->next_free;
    } else if (ckpt_halves_count < CKPT_HALVES_MAX) {
        context = &contexts[ckpt_halves_count];
        CKPT_INVARIANT(ckpt_halves_count > 0); /* the first is of the main thread */
        context->halves = &ckpt_halves[ckpt_halves_count];
        ckpt_halves_count++;
    }
    pthread_mutex_unlock(&list_mutex);
    return context;
}

__attribute__((noreturn)) static void give_up(const char *why)
{
    fprintf(stderr, "ckpt: no more threads can call MPI: %s\n", why);
    abort();
}

struct ckpt_thread_context *ckpt_thread_context_get(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    if (context != NULL) {
        return context;
    }
    context = find_context();
    if (context == NULL) {
        give_up("there are too many");
    }
    ckpt_thread_context_own = context;
    (void)pthread_setspecific(at_exit, context);
    ckpt_thread_context_lock();
    if (context->halves->lower == 0 && equip(context) != 0) {
        give_up("the system allows no further thread");
    }
    ckpt_thread_context_unlock();
    return context;
}

int ckpt_thread_contexts_open(void)
{
    int error = pthread_key_create(&at_exit, bring_back);

    if (error != 0) {
        return -error;
    }
    CKPT_INVARIANT(ckpt_halves_count == 1 && !ckpt_multiple);
    contexts[0].halves = &ckpt_halves[0];
    ckpt_thread_context_own = &contexts[0];
    (void)pthread_setspecific(at_exit, &contexts[0]);
    ckpt_multiple = 1;
    return equip(&contexts[0]);
}

void ckpt_thread_contexts_forget(uintptr_t main_thread_pointer)
{
    if (!ckpt_multiple) {
        ckpt_halves[0].lower = main_thread_pointer;
        return;
    }
    for (uint32_t i = 0; i < ckpt_halves_count; i++) {
        ckpt_halves[i].lower = 0;
    }
    spare = 0;
    ckpt_thread_context_own->halves->lower = main_thread_pointer;
}

int ckpt_thread_contexts_renew(struct ckpt_failure *failure)
{
    int error = 0;

    for (uint32_t i = 0; ckpt_multiple && i < ckpt_halves_count; i++) {
        if (error == 0 && ckpt_halves[i].lower == 0) {
            uintptr_t thread_pointer;

            error = lend(&thread_pointer);
            ckpt_halves[i].lower = error == 0 ? thread_pointer : 0;
        }
    }
    if (ckpt_multiple && error == 0) {
        (void)lend(&spare);
    }
    return error == 0 ? 0
                      : ckpt_fail(failure, error,
                                  "cannot make the threads of the MPI library");
}

void ckpt_thread_context_lock(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_get();

    if (context->depth++ == 0 &&
        !(context->offers && change_offer(OFFERED, NO_OFFER))) {
        take();
    }
}

void ckpt_thread_context_unlock(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    CKPT_INVARIANT(context->depth > 0);
    if (--context->depth == 0 &&
        !(context->offers && change_offer(NO_OFFER, OFFERED))) {
        give();
    }
}

void ckpt_thread_context_end(void)
{
    if (ckpt_thread_context_own->depth == 1) {
        ckpt_state = CKPT_STATE_IDLE;
    }
    ckpt_thread_context_unlock();
}

/* Opens the context: it holds the lock once, and ckpt_thread_context_close() restores
 * that. */
void ckpt_thread_context_open(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    if (context->depth == 1 && !context->serving && !context->open) {
        context->open = 1;
        lock.open++;
        ckpt_state = CKPT_STATE_IDLE;
        ckpt_thread_context_unlock();
    }
}

void ckpt_thread_context_close(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    CKPT_INVARIANT(context->depth == 0 && context->open);
    ckpt_thread_context_lock();
    CKPT_INVARIANT(lock.open > 0);
    context->open = 0;
    lock.open--;
    ckpt_state = CKPT_STATE_CRITICAL;
    if (context->serving) {
        ckpt_state = CKPT_STATE_SERVICE;
        __atomic_store_n(&offer, NO_OFFER, __ATOMIC_SEQ_CST);
    }
}

void ckpt_thread_context_offer(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    if (context->depth == 1 && !context->keeps && !context->open) {
        context->offers = 1;
        ckpt_thread_context_unlock();
    }
}

int ckpt_thread_context_offer_over(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    context->offers = 0;
    if (!change_offer(OFFERED, NO_OFFER)) {
        return 1;
    }
    CKPT_INVARIANT(context->depth == 0);
    context->depth = 1;
    ckpt_state = CKPT_STATE_SERVICE;
    return 0;
}

void ckpt_thread_context_keep(int keep)
{
    if (ckpt_multiple) {
        ckpt_thread_context_own->keeps = keep;
    }
}

int ckpt_thread_context_is_taken(void)
{
    return __atomic_load_n(&offer, __ATOMIC_RELAXED) == TAKEN;
}

uint64_t ckpt_thread_context_times_taken(void)
{
    return times_taken;
}

int ckpt_thread_contexts_open_count(void)
{
    return lock.open;
}

/* ---- Waiting for messages ------------------------------------------------ */

/* The one waiting thread that progresses the lower half without pauses. */
static struct ckpt_thread_context *foremost;

static int is_foremost(struct ckpt_thread_context *context)
{
    struct ckpt_thread_context *none = NULL;

    return __atomic_load_n(&foremost, __ATOMIC_RELAXED) == context ||
           __atomic_compare_exchange_n(&foremost, &none, context, 0,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

unsigned ckpt_thread_context_back_off(int checkpoint)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;
    struct timespec pause = {0, 0};
    unsigned us;

    if (context->depth > 0 || (is_foremost(context) && !checkpoint) ||
        ++context->vain <= SPIN_TURNS) {
        return 0;
    }
    us = (context->vain - SPIN_TURNS) * SLEEP_STEP_US;
    us = us < SLEEP_LIMIT_US ? us : SLEEP_LIMIT_US;
    pause.tv_nsec = (long)us * 1000;
    (void)ckpt_syscall6(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&pause,
                        0, 0, 0);
    return us;
}

void ckpt_thread_context_wait_over(void)
{
    struct ckpt_thread_context *context = ckpt_thread_context_own;

    context->vain = 0;
    if (__atomic_load_n(&foremost, __ATOMIC_RELAXED) == context) {
        __atomic_store_n(&foremost, NULL, __ATOMIC_RELAXED);
    }
}
