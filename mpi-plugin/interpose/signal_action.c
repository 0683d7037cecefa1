/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_action.c - sigaction and the older calls for the same purpose.
 *
 * Before MPI_Init they go to libc unchanged. Afterwards libckpt puts its
 * trampoline before the application's handlers. The older calls are built on
 * our sigaction, because libc's versions would bypass it.
 *
 * Context of all functions: normal, signal handlers included.
 */
#include "config.h"

#include "interpose/next.h"
#include "task/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

int __sigaction(int signal, const struct sigaction *action,
                struct sigaction *old);
sighandler_t __sysv_signal(int signal, sighandler_t handler);

CKPT_INTERPOSE int sigaction(int signal, const struct sigaction *action,
                             struct sigaction *old)
{
    int status;

    if (!ckpt_signals_is_open()) {
        return CKPT_NEXT(sigaction)(signal, action, old);
    }
    status = ckpt_signals_action(signal, action, old);
    if (status != 0) {
        errno = -status;
        return -1;
    }
    return 0;
}

CKPT_INTERPOSE int __sigaction(int signal, const struct sigaction *action,
                               struct sigaction *old)
{
    return sigaction(signal, action, old);
}

/* Signals for which siginterrupt() was called: bit (signal - 1). */
static unsigned long interrupting;
_Static_assert(8 * sizeof(interrupting) >= NSIG - 1, "each signal has a bit");

static unsigned long bit_of(int signal)
{
    return signal >= 1 && signal <= 64 ? 1ul << (signal - 1) : 0;
}

static sighandler_t install(int signal, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_flags = flags};
    struct sigaction old;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    action.sa_handler = handler;
    return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

CKPT_INTERPOSE sighandler_t signal(int signal, sighandler_t handler)
{
    unsigned long bits = __atomic_load_n(&interrupting, __ATOMIC_RELAXED);

    /* As libc does: the kernel blocks the handler's own signal anyway. */
    return install(signal, handler,
                   (bits & bit_of(signal)) != 0 ? 0 : SA_RESTART);
}

CKPT_INTERPOSE sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

CKPT_INTERPOSE sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

CKPT_INTERPOSE sighandler_t __sysv_signal(int signal, sighandler_t handler)
{
    return install(signal, handler, SA_RESETHAND | SA_NODEFER);
}

CKPT_INTERPOSE sighandler_t sysv_signal(int signal, sighandler_t handler)
{
    return __sysv_signal(signal, handler);
}

CKPT_INTERPOSE int siginterrupt(int signal, int interrupt)
{
    struct sigaction action;

    if (sigaction(signal, NULL, &action) != 0) {
        return -1;
    }
    if (interrupt) {
        __atomic_fetch_or(&interrupting, bit_of(signal), __ATOMIC_RELAXED);
        action.sa_flags &= ~SA_RESTART;
    } else {
        __atomic_fetch_and(&interrupting, ~bit_of(signal), __ATOMIC_RELAXED);
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(signal, &action, NULL);
}

CKPT_INTERPOSE int sigignore(int signal)
{
    return install(signal, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

/* System V: also blocks (SIG_HOLD) or unblocks, and returns the previous
 * handler. */
CKPT_INTERPOSE sighandler_t sigset(int signal, sighandler_t handler)
{
    struct sigaction action;
    sighandler_t before;
    sigset_t set;
    sigset_t mask;

    sigemptyset(&set);
    if (sigaddset(&set, signal) != 0) {
        return SIG_ERR;
    }
    if (handler == SIG_HOLD) {
        if (sigaction(signal, NULL, &action) != 0) {
            return SIG_ERR;
        }
        before = action.sa_handler;
    } else {
        before = install(signal, handler, 0);
        if (before == SIG_ERR) {
            return SIG_ERR;
        }
    }
    if (sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set,
                    &mask) != 0) {
        return SIG_ERR;
    }
    return sigismember(&mask, signal) == 1 ? SIG_HOLD : before;
}
