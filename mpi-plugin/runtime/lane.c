/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane.c - lanes of threads, and the lock between them.
 */
#include "runtime/lane.h"

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
#define SPIN_TURNS 64
#define SLEEP_STEP_US 10
#define SLEEP_LIMIT_US 500

/* Time that a thread waits for the lock before it accepts the offer. */
#define OFFER_NS 10000000
#define SECOND_NS 1000000000

int ckpt_multiple;
int ckpt_collectives_split;
__thread struct ckpt_lane *ckpt_lane_own;

static struct ckpt_lane lanes[CKPT_HALVES_MAX];
static struct ckpt_lane *free_lanes;
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_exit; /* its destructor returns a thread's lane */

/* A lent thread pointer that no lane has yet: a new thread uses it to ask for
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
    int open;         /* lanes; changed by the owner */
} lock;

/*
 * The service thread keeps the lock whatever it calls, so that the rank stands
 * still. But it may run an operation of the application, which may wait for a
 * thread that waits for the lock. Meanwhile the lock is on offer: a thread that
 * has waited long enough passes it to the next ticket. The rank then runs on,
 * and acts as if the service thread were in the lower half (cut/service/service.c).
 */
enum { NO_OFFER, OFFERED, TAKEN };
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

/* Gives a lane its thread pointer. Context: with the lock. */
static int equip(struct ckpt_lane *lane)
{
    if (lane->halves->lower == 0) {
        lane->halves->lower = spare;
        spare = 0;
    }
    if (lane->halves->lower == 0) {
        return -EAGAIN;
    }
    if (spare == 0) {
        (void)lend(&spare); /* on failure the next thread gets the error */
    }
    return 0;
}

static void bring_back(void *lane)
{
    ckpt_lane_wait_over();
    CKPT_INVARIANT(((struct ckpt_lane *)lane)->depth == 0 && !((struct ckpt_lane *)lane)->open);
    pthread_mutex_lock(&list_mutex);
    ((struct ckpt_lane *)lane)->next_free = free_lanes;
    free_lanes = lane;
    ckpt_lane_own = NULL;
    pthread_mutex_unlock(&list_mutex);
}

/* Returns a lane that no thread has, or NULL. */
static struct ckpt_lane *find_lane(void)
{
    struct ckpt_lane *lane;

    pthread_mutex_lock(&list_mutex);
    lane = free_lanes;
    if (lane != NULL) {
        free_lanes = lane->next_free;
    } else if (ckpt_halves_count < CKPT_HALVES_MAX) {
        lane = &lanes[ckpt_halves_count];
        CKPT_INVARIANT(ckpt_halves_count > 0); /* the first is of the main thread */
        lane->halves = &ckpt_halves[ckpt_halves_count];
        ckpt_halves_count++;
    }
    pthread_mutex_unlock(&list_mutex);
    return lane;
}

__attribute__((noreturn)) static void give_up(const char *why)
{
    fprintf(stderr, "ckpt: no more threads can call MPI: %s\n", why);
    abort();
}

struct ckpt_lane *ckpt_lane_get(void)
{
    struct ckpt_lane *lane = ckpt_lane_own;

    if (lane != NULL) {
        return lane;
    }
    lane = find_lane();
    if (lane == NULL) {
        give_up("there are too many");
    }
    ckpt_lane_own = lane;
    (void)pthread_setspecific(at_exit, lane);
    ckpt_lane_lock();
    if (lane->halves->lower == 0 && equip(lane) != 0) {
        give_up("the system allows no further thread");
    }
    ckpt_lane_unlock();
    return lane;
}

int ckpt_lanes_open(void)
{
    int error = pthread_key_create(&at_exit, bring_back);

    if (error != 0) {
        return -error;
    }
    CKPT_INVARIANT(ckpt_halves_count == 1 && !ckpt_multiple);
    lanes[0].halves = &ckpt_halves[0];
    ckpt_lane_own = &lanes[0];
    (void)pthread_setspecific(at_exit, &lanes[0]);
    ckpt_multiple = 1;
    return equip(&lanes[0]);
}

void ckpt_lanes_forget(uintptr_t main_thread_pointer)
{
    if (!ckpt_multiple) {
        ckpt_halves[0].lower = main_thread_pointer;
        return;
    }
    for (uint32_t i = 0; i < ckpt_halves_count; i++) {
        ckpt_halves[i].lower = 0;
    }
    spare = 0;
    ckpt_lane_own->halves->lower = main_thread_pointer;
}

int ckpt_lanes_renew(struct ckpt_failure *failure)
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

void ckpt_lane_lock(void)
{
    struct ckpt_lane *lane = ckpt_lane_get();

    if (lane->depth++ == 0 &&
        !(lane->offers && change_offer(OFFERED, NO_OFFER))) {
        take();
    }
}

void ckpt_lane_unlock(void)
{
    struct ckpt_lane *lane = ckpt_lane_own;

    CKPT_INVARIANT(lane->depth > 0);
    if (--lane->depth == 0 &&
        !(lane->offers && change_offer(NO_OFFER, OFFERED))) {
        give();
    }
}

void ckpt_lane_end(void)
{
    if (ckpt_lane_own->depth == 1) {
        ckpt_state = CKPT_STATE_IDLE;
    }
    ckpt_lane_unlock();
}

/* Opens the lane: it holds the lock once, and ckpt_lane_close() restores
 * that. */
void ckpt_lane_open(void)
{
    struct ckpt_lane *lane = ckpt_lane_own;

    if (lane->depth == 1 && !lane->serving && !lane->open) {
        lane->open = 1;
        lock.open++;
        ckpt_state = CKPT_STATE_IDLE;
        ckpt_lane_unlock();
    }
}

void ckpt_lane_close(void)
{
    struct ckpt_lane *lane = ckpt_lane_own;

    CKPT_INVARIANT(lane->depth == 0 && lane->open);
    ckpt_lane_lock();
    CKPT_INVARIANT(lock.open > 0);
    lane->open = 0;
    lock.open--;
    ckpt_state = CKPT_STATE_CRITICAL;
    if (lane->serving) {
        ckpt_state = CKPT_STATE_SERVICE;
        __atomic_store_n(&offer, NO_OFFER, __ATOMIC_SEQ_CST);
    }
}

void ckpt_lane_offer(void)
{
    struct ckpt_lane *lane = ckpt_lane_own;

    if (lane->depth == 1 && !lane->keeps && !lane->open) {
        lane->offers = 1;
        ckpt_lane_unlock();
    }
}

int ckpt_lane_offer_over(void)
{
    struct ckpt_lane *lane = ckpt_lane_own;

    lane->offers = 0;
    if (!change_offer(OFFERED, NO_OFFER)) {
        return 1;
    }
    CKPT_INVARIANT(lane->depth == 0);
    lane->depth = 1;
    ckpt_state = CKPT_STATE_SERVICE;
    return 0;
}

void ckpt_lane_keep(int keep)
{
    if (ckpt_multiple) {
        ckpt_lane_own->keeps = keep;
    }
}

int ckpt_lane_is_taken(void)
{
    return __atomic_load_n(&offer, __ATOMIC_RELAXED) == TAKEN;
}

uint64_t ckpt_lane_times_taken(void)
{
    return times_taken;
}

int ckpt_lanes_open_count(void)
{
    return lock.open;
}

/* ---- Waiting for messages ------------------------------------------------ */

/* The one waiting thread that progresses the lower half without pauses. */
static struct ckpt_lane *foremost;

static int is_foremost(struct ckpt_lane *lane)
{
    struct ckpt_lane *none = NULL;

    return __atomic_load_n(&foremost, __ATOMIC_RELAXED) == lane ||
           __atomic_compare_exchange_n(&foremost, &none, lane, 0,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

unsigned ckpt_lane_back_off(int checkpoint)
{
    struct ckpt_lane *lane = ckpt_lane_own;
    struct timespec pause = {0, 0};
    unsigned us;

    if (lane->depth > 0 || (is_foremost(lane) && !checkpoint) ||
        ++lane->vain <= SPIN_TURNS) {
        return 0;
    }
    us = (lane->vain - SPIN_TURNS) * SLEEP_STEP_US;
    us = us < SLEEP_LIMIT_US ? us : SLEEP_LIMIT_US;
    pause.tv_nsec = (long)us * 1000;
    (void)ckpt_syscall6(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&pause,
                        0, 0, 0);
    return us;
}

void ckpt_lane_wait_over(void)
{
    struct ckpt_lane *lane = ckpt_lane_own;

    lane->vain = 0;
    if (__atomic_load_n(&foremost, __ATOMIC_RELAXED) == lane) {
        __atomic_store_n(&foremost, NULL, __ATOMIC_RELAXED);
    }
}
