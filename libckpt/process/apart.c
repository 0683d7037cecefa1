/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apart.c - runs a function with its own descriptor table, by clone(CLONE_VM | CLONE_VFORK).
 */
#include "process/apart.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct task {
    int (*work)(void *argument);
    void *argument;
    int result;
};

/* The child must not survive if the program is killed. */
static int run(void *argument)
{
    struct task *task = argument;

    (void)ckpt_sys_prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    task->result = task->work(task->argument);
    return 0;
}

int ckpt_run_apart(int (*work)(void *argument), void *argument, char *stack_top)
{
    const uint64_t all = ~UINT64_C(0);
    struct task task = {work, argument, -ECANCELED};
    const int before = errno; /* the program's value */
    uint64_t mask;
    int child;

    CKPT_INVARIANT((uintptr_t)stack_top % 16 == 0);
    ckpt_sys_sigprocmask(SIG_BLOCK, &all, &mask);
    child = clone(run, stack_top, CLONE_VM | CLONE_VFORK, &task);
    if (child < 0) {
        task.result = -errno;
        errno = before;
    } else { /* the child has ended; another thread may have waited for it already */
        (void)ckpt_syscall4(SYS_wait4, child, 0, __WALL, 0);
    }
    ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
    CKPT_INVARIANT(task.result <= 0);
    return task.result;
}
