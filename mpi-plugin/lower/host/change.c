/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change.c - mark the moments when the lower half's tables differ from the
 * kernel's.
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/host/change.h"

#include "sys/syscall.h"

#include <signal.h>
#include <time.h>

#define TIMEOUT_NS INT64_C(1000000000)

static uint32_t changes; /* under way */

void ckpt_change_begin(uint64_t *mask)
{
    const uint64_t all = ~UINT64_C(0);

    ckpt_sys_sigprocmask(SIG_BLOCK, &all, mask);
    __atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST);
}

void ckpt_change_end(const uint64_t *mask)
{
    CKPT_INVARIANT(__atomic_load_n(&changes, __ATOMIC_RELAXED) > 0);
    __atomic_sub_fetch(&changes, 1, __ATOMIC_SEQ_CST);
    ckpt_sys_sigprocmask(SIG_SETMASK, mask, NULL);
}

int ckpt_change_is_under_way(void)
{
    return __atomic_load_n(&changes, __ATOMIC_RELAXED) > 0;
}

static int64_t now(void)
{
    struct timespec time;

    ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int ckpt_change_wait(void)
{
    int64_t end;

    if (__atomic_load_n(&changes, __ATOMIC_SEQ_CST) == 0) {
        return 1;
    }
    end = now() + TIMEOUT_NS;
    while (now() < end) {
        if (__atomic_load_n(&changes, __ATOMIC_SEQ_CST) == 0) {
            return 1;
        }
        ckpt_syscall3(SYS_sched_yield, 0, 0, 0);
    }
    return 0;
}

void ckpt_spinlock_take(struct ckpt_spinlock *lock)
{
    CKPT_INVARIANT(ckpt_change_is_under_way()); /* no handler may wait for its own thread */
    while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) != 0) {
        ckpt_syscall3(SYS_sched_yield, 0, 0, 0);
    }
}

void ckpt_spinlock_give(struct ckpt_spinlock *lock)
{
    CKPT_INVARIANT(__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) == 1);
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}
