/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_mask.c - keep the checkpoint signal out of masks and waits.
 *
 * Every call that takes a set of signals to block or to wait for goes to libc with a set
 * without the checkpoint signal. sigfillset and the like only compute sets and are left
 * alone. Limit: libc itself sets the mask of a context that begins when another one ends
 * (uc_link).
 *
 * Context of all functions: normal; those that only change the mask also in
 * signal handlers.
 */
#include "config.h"

#include "interpose/next.h"
#include "interpose/signal_set.h"
#include "task/process_id.h"
#include "task/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <ucontext.h>

/* Threads that start before MPI_Init must not block the signal either. */
static __attribute__((constructor)) void reserve_signal(void)
{
    ckpt_signals_reserve(ckpt_signals_number(getenv("CKPT_SIGNAL")));
}

CKPT_INTERPOSE int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;

    return CKPT_NEXT(sigprocmask)(how, ckpt_set_without_signal(set, &copy), old);
}

CKPT_INTERPOSE int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;

    return CKPT_NEXT(pthread_sigmask)(how, ckpt_set_without_signal(set, &copy), old);
}

CKPT_INTERPOSE int sighold(int signal)
{
    sigset_t set;

    sigemptyset(&set);
    if (sigaddset(&set, signal) != 0) {
        return -1;
    }
    return sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The BSD calls handle only signals 1 to 32. */
static int change_bsd_mask(int how, int mask)
{
    sigset_t set;
    sigset_t old;
    unsigned before = 0;

    sigemptyset(&set);
    for (int signal = 1; signal <= 31; signal++) {
        if (((unsigned)mask >> (signal - 1) & 1) != 0) {
            sigaddset(&set, signal);
        }
    }
    if (sigprocmask(how, &set, &old) != 0) {
        return -1;
    }
    for (int signal = 1; signal <= 31; signal++) {
        before |= (unsigned)(sigismember(&old, signal) == 1) << (signal - 1);
    }
    return (int)before;
}

CKPT_INTERPOSE int sigblock(int mask)
{
    return change_bsd_mask(SIG_BLOCK, mask);
}

CKPT_INTERPOSE int sigsetmask(int mask)
{
    return change_bsd_mask(SIG_SETMASK, mask);
}

CKPT_INTERPOSE int sigsuspend(const sigset_t *set)
{
    sigset_t copy;

    return CKPT_NEXT(sigsuspend)(ckpt_set_without_signal(set, &copy));
}

CKPT_INTERPOSE int ppoll(struct pollfd *files, nfds_t count,
                         const struct timespec *timeout, const sigset_t *set)
{
    sigset_t copy;

    return CKPT_NEXT(ppoll)(files, count, timeout, ckpt_set_without_signal(set, &copy));
}

CKPT_INTERPOSE int pselect(int count, fd_set *read_files, fd_set *write_files,
                           fd_set *exception_files,
                           const struct timespec *timeout, const sigset_t *set)
{
    sigset_t copy;

    return CKPT_NEXT(pselect)(count, read_files, write_files, exception_files,
                              timeout, ckpt_set_without_signal(set, &copy));
}

CKPT_INTERPOSE int sigwait(const sigset_t *set, int *signal_p)
{
    sigset_t copy;

    return CKPT_NEXT(sigwait)(ckpt_set_without_signal(set, &copy), signal_p);
}

CKPT_INTERPOSE int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    sigset_t copy;
    int signal =
        CKPT_NEXT(sigwaitinfo)(ckpt_set_without_signal(set, &copy), info);

    if (signal > 0 && info != NULL) {
        ckpt_process_id_show_sender(info);
    }
    return signal;
}

CKPT_INTERPOSE int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t copy;

    return CKPT_NEXT(signalfd)(fd, ckpt_set_without_signal(set, &copy), flags);
}

/* Return libc's function, for signal_context.S, and correct the mask of `to`. */
typedef int swap_context(ucontext_t *from, const ucontext_t *to);
typedef int set_context(const ucontext_t *to);
__attribute__((visibility("hidden"))) swap_context *ckpt_context_to_swap(ucontext_t *to);
__attribute__((visibility("hidden"))) set_context *ckpt_context_to_set(ucontext_t *to);

/* The kernel reads one word of the mask. */
_Static_assert(sizeof(((ucontext_t *)NULL)->uc_sigmask.__val[0]) * 8 == NSIG - 1,
               "the first word has all signals");

/* Writes only if necessary: a context may be constant. */
static void open_signal(ucontext_t *to)
{
    const uint64_t mask = to->uc_sigmask.__val[0];

    if (ckpt_signals_without_ours(mask) != mask) {
        ckpt_signals_strip(&to->uc_sigmask);
    }
}

swap_context *ckpt_context_to_swap(ucontext_t *to)
{
    open_signal(to);
    return CKPT_NEXT(swapcontext);
}

set_context *ckpt_context_to_set(ucontext_t *to)
{
    open_signal(to);
    return CKPT_NEXT(setcontext);
}

/* Newer than some headers. */
int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set);

CKPT_INTERPOSE int pthread_attr_setsigmask_np(pthread_attr_t *attributes,
                                              const sigset_t *set)
{
    sigset_t copy;

    return CKPT_NEXT(pthread_attr_setsigmask_np)(attributes,
                                                 ckpt_set_without_signal(set, &copy));
}
