/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_holder.c - clone(CLONE_VM) without a child: of two new processes the first ends at once,
 * so that the second becomes an orphan.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "process/memory_holder.h"

#include "base/invariant.h"
#include "process/apart.h"
#include "process/subreaper.h"
#include "sys/syscall.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#define STACK_SIZE   4096
#define NICER        10 /* a tenth of the processor, if others want it */
#define LOOK_SECONDS 10

static struct {
    int32_t *leader; /* the kernel clears this word when the leader gives up its memory */
    int32_t value;   /* of that word until then */
    int32_t process; /* the holder; the kernel clears it at its end */
    char stack[STACK_SIZE] __attribute__((aligned(16)));
} holder;

/* ---- In the holder: no function of libc, which would use the program's TLS ------------------ */

static void be_nice(void)
{
    const long nice = 20 - ckpt_syscall3(SYS_getpriority, PRIO_PROCESS, 0, 0) + NICER;

    (void)ckpt_syscall3(SYS_setpriority, PRIO_PROCESS, 0, nice);
}

/* The kernel wakes one waiter. It may have woken another one, or none because the kernel could not
 * write the word; so the holder also looks from time to time. */
static int hold(void *unused)
{
    const struct timespec period = {.tv_sec = LOOK_SECONDS};

    (void)unused;
    (void)ckpt_sys_prctl(PR_SET_NAME, (unsigned long)CKPT_MEMORY_HOLDER_NAME, 0, 0, 0);
    be_nice();
    while (__atomic_load_n(holder.leader, __ATOMIC_ACQUIRE) == holder.value) {
        (void)ckpt_syscall6(SYS_futex, (long)holder.leader, FUTEX_WAIT, holder.value,
                            (long)&period, 0, 0);
    }
    /* a thread of the program that waits for its leader (pthread_join) */
    (void)ckpt_syscall6(SYS_futex, (long)holder.leader, FUTEX_WAKE, 1, 0, 0, 0);
    ckpt_sys_exit_group(0);
}

/* ---- In the program -------------------------------------------------------------------------- */

/* Runs in the first process. */
static int start_apart(void *unused)
{
    const int before = errno; /* the program's value */
    int error = (int)ckpt_sys_close_range(0, UINT_MAX, 0);

    (void)unused;
    if (error == 0 && clone(hold, holder.stack + STACK_SIZE,
                            CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID, NULL,
                            &holder.process, NULL, &holder.process) < 0) {
        error = -errno;
        errno = before;
    }
    return error;
}

int ckpt_memory_holder_start(void)
{
    static char stack[CKPT_APART_STACK_SIZE] __attribute__((aligned(16)));
    int error, is_subreaper;

    if (__atomic_load_n(&holder.process, __ATOMIC_ACQUIRE) != 0) {
        return 0;
    }
    if (ckpt_sys_gettid() != ckpt_sys_getpid()) {
        return -ESRCH;
    }
    error = (int)ckpt_sys_prctl(PR_GET_TID_ADDRESS, (unsigned long)&holder.leader, 0, 0, 0);
    if (error != 0 || holder.leader == NULL) {
        return error != 0 ? error : -ENOTSUP;
    }
    holder.value = __atomic_load_n(holder.leader, __ATOMIC_ACQUIRE);
    CKPT_INVARIANT(holder.value != 0);
    is_subreaper = ckpt_subreaper_suspend();
    error = ckpt_run_apart(start_apart, NULL, stack + sizeof(stack));
    ckpt_subreaper_resume(is_subreaper);
    return error;
}

void ckpt_memory_holder_gone(void)
{
    __atomic_store_n(&holder.process, 0, __ATOMIC_RELEASE);
}
