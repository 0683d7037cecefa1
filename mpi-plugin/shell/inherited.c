/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inherited.c - give up what a process keeps when it executes another program.
 *
 * execve(2) has ended all other threads with their robust lists, removed the memory with its
 * System V segments and rseq areas, deleted POSIX timers, and reset signal handlers. POSIX locks
 * go with the descriptors that are closed.
 */
#include "shell/inherited.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

static const int timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

static void sort(int *numbers, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        const int number = numbers[i];
        unsigned place = i;

        for (; place > 0 && numbers[place - 1] > number; place--) {
            numbers[place] = numbers[place - 1];
        }
        numbers[place] = number;
    }
}

int ckpt_inherited_close(int *kept, unsigned count)
{
    unsigned first = STDERR_FILENO + 1;
    long error = 0;

    sort(kept, count);
    for (unsigned i = 0; i < count && error == 0; i++) {
        CKPT_INVARIANT(i == 0 || kept[i - 1] <= kept[i]);
        if (kept[i] > (int)first) {
            error = ckpt_sys_close_range(first, (unsigned)kept[i] - 1, 0);
        }
        first = kept[i] >= (int)first ? (unsigned)kept[i] + 1 : first;
    }
    return error != 0 ? (int)error : (int)ckpt_sys_close_range(first, UINT_MAX, 0);
}

/* alarm(2) and setitimer(2) outlive an execve. */
static long stop_timers(void)
{
    const struct itimerval none = {{0, 0}, {0, 0}};
    long error = 0;

    for (unsigned i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        const long result = ckpt_syscall3(SYS_setitimer, timers[i], (long)&none, 0);

        error = error == 0 ? result : error;
    }
    return error;
}

/* The successor may want these locks. A lock needs an open file: other errors do not matter. */
static void unlock_streams(void)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        (void)ckpt_sys_fcntl(fd, F_SETLK, (long)&all);
    }
}

static const uint64_t fatal = CKPT_SIGNAL_BIT(SIGTERM) | CKPT_SIGNAL_BIT(SIGINT) |
                              CKPT_SIGNAL_BIT(SIGQUIT) | CKPT_SIGNAL_BIT(SIGHUP);

/* SIGCHLD is ignored: nobody waits for the program's children, and they are not to pile up. */
static long set_signals(void)
{
    const struct ckpt_sigaction ignored = {.handler = (void *)SIG_IGN};
    const struct ckpt_sigaction standard = {.handler = (void *)SIG_DFL};
    const uint64_t blocked = ~fatal;
    long error = ckpt_sys_sigaction(SIGCHLD, &ignored, NULL);

    if (error == 0) {
        error = ckpt_sys_sigaction(SIGTERM, &standard, NULL);
    }
    return error == 0 ? ckpt_sys_sigprocmask(SIG_SETMASK, &blocked, NULL) : error;
}

long ckpt_inherited_signals(void)
{
    const uint64_t others = ~(fatal | CKPT_SIGNAL_BIT(SIGCHLD));

    return ckpt_syscall6(SYS_signalfd4, -1, (long)&others, sizeof(others),
                         SFD_NONBLOCK | SFD_CLOEXEC, 0, 0);
}

int ckpt_inherited_give_up(void)
{
    long error = stop_timers();

    unlock_streams();
    if (error == 0) { /* no other thread is left: the kernel undoes now what it would at the end */
        error = ckpt_syscall3(SYS_unshare, CLONE_SYSVSEM, 0, 0);
    }
    return error == 0 ? (int)set_signals() : (int)error;
}
