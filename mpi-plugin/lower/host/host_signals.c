/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_signals.c - keep the lower half from changing the process's signals.
 *
 * Dispositions and timers belong to the process, and so to the application. The
 * lower half's calls are recorded and read back, but not carried out. A handler
 * of the lower half could run while the application's thread pointer is set,
 * and would replace a handler that the checkpoint saves. Signal masks are not
 * changed either: the main thread's mask is the application's, and all other
 * threads block everything anyway (host_threads.c). Two features are lost: Open
 * MPI's stack trace at a crash, and UCX_ASYNC_MODE=signal.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "config.h"

#include "lower/host/export.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct sigaction actions[NSIG];
static __thread sigset_t mask; /* the mask that this thread has set */

CKPT_EXPORT int sigaction(int signal, const struct sigaction *action,
                          struct sigaction *old)
{
    if (signal <= 0 || signal >= NSIG) {
        errno = EINVAL;
        return -1;
    }
    if (old != NULL) {
        *old = actions[signal];
    }
    if (action != NULL) {
        actions[signal] = *action;
    }
    return 0;
}

CKPT_EXPORT sighandler_t signal(int signal, sighandler_t handler)
{
    struct sigaction action, old;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

CKPT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t result;

    if (old != NULL) {
        *old = mask;
    }
    if (set == NULL) {
        return 0;
    }
    switch (how) {
    case SIG_BLOCK:
        sigorset(&result, &mask, set);
        break;
    case SIG_UNBLOCK:
        sigemptyset(&result);
        for (int i = 1; i < NSIG; i++) {
            if (sigismember(&mask, i) == 1 && sigismember(set, i) != 1) {
                sigaddset(&result, i);
            }
        }
        break;
    case SIG_SETMASK:
        result = *set;
        break;
    default:
        return EINVAL;
    }
    mask = result;
    return 0;
}

CKPT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = pthread_sigmask(how, set, old);

    if (error != 0) {
        errno = error;
        return -1;
    }
    return 0;
}

CKPT_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    (void)stack;
    if (old != NULL) {
        memset(old, 0, sizeof(*old));
        old->ss_flags = SS_DISABLE;
    }
    return 0;
}

CKPT_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *value,
                          struct itimerval *old)
{
    (void)which;
    (void)value;
    if (old != NULL) {
        memset(old, 0, sizeof(*old));
    }
    return 0;
}

CKPT_EXPORT unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

CKPT_EXPORT int timer_create(clockid_t clock, struct sigevent *event,
                             timer_t *timer)
{
    (void)clock, (void)event, (void)timer;
    errno = EAGAIN;
    return -1;
}
