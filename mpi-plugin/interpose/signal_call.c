/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_call.c - syscall() with numbers that need the treatment of the libc functions.
 * - Calls with a set of signals, or a handler: the checkpoint signal is never blocked,
 *   waited for, or taken over.
 * - Calls that leave a flag on memory: they are noted, as in advice.c.
 * - Calls that return or take the id of a thread, or of this process: they use the
 *   program's ids, as in process_id.c.
 *
 * Context of all functions: normal, or a signal handler.
 */
#include "config.h"

#include "memory/advice.h"
#include "sys/syscall.h"
#include "task/memory_policy.h"
#include "task/process_id.h"
#include "task/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define NUMBER_EPOLL_PWAIT2 441 /* newer than some headers */
#define NUMBER_MSEAL        462

/* glibc's own, for pthread_cancel and set*id. */
#define SIGNAL_CANCEL 32
#define SIGNAL_SETXID 33

/* interpose/syscall.S */
long ckpt_syscall_plain(long number, long a1, long a2, long a3, long a4, long a5, long a6);
long ckpt_signal_call(long number, long a1, long a2, long a3, long a4, long a5, long a6);

/* For syscall.S: the calls that come here, by number. */
#define WORDS 8
_Static_assert(64 * WORDS == 512, "syscall.S looks up the numbers up to 511");
_Static_assert(NUMBER_EPOLL_PWAIT2 < 64 * WORDS && NUMBER_MSEAL < 64 * WORDS,
               "the newest calls are in the table");
#define IN_WORD(number, word) \
    ((number) / 64 == (word) ? UINT64_C(1) << ((number) % 64) : 0)
#define CALLS_OF_WORD(word)                                                  \
    (IN_WORD(SYS_rt_sigaction, word) | IN_WORD(SYS_rt_sigprocmask, word) |   \
     IN_WORD(SYS_rt_sigtimedwait, word) | IN_WORD(SYS_rt_sigsuspend, word) | \
     IN_WORD(SYS_pselect6, word) | IN_WORD(SYS_ppoll, word) |                \
     IN_WORD(SYS_epoll_pwait, word) | IN_WORD(NUMBER_EPOLL_PWAIT2, word) |   \
     IN_WORD(SYS_signalfd, word) | IN_WORD(SYS_signalfd4, word) |            \
     IN_WORD(SYS_getpid, word) | IN_WORD(SYS_gettid, word) |                 \
     IN_WORD(SYS_kill, word) | IN_WORD(SYS_tkill, word) |                    \
     IN_WORD(SYS_tgkill, word) | IN_WORD(SYS_sched_setaffinity, word) |      \
     IN_WORD(SYS_sched_getaffinity, word) | IN_WORD(SYS_madvise, word) |     \
     IN_WORD(SYS_mlock, word) | IN_WORD(SYS_mlock2, word) |                  \
     IN_WORD(SYS_mmap, word) | IN_WORD(NUMBER_MSEAL, word) |                 \
     IN_WORD(SYS_mbind, word) | IN_WORD(SYS_set_mempolicy, word))

__attribute__((visibility("hidden"))) const uint64_t ckpt_signal_calls[WORDS] = {
    CALLS_OF_WORD(0), CALLS_OF_WORD(1), CALLS_OF_WORD(2), CALLS_OF_WORD(3),
    CALLS_OF_WORD(4), CALLS_OF_WORD(5), CALLS_OF_WORD(6), CALLS_OF_WORD(7)};

/* Copies between our memory and the program's. The program's address may be invalid, so
 * the kernel checks it. Returns 1 on success. */
static int copy(long call, void *own, long address, size_t size)
{
    struct iovec local = {own, size}, remote = {(void *)address, size};

    return ckpt_syscall6(call, ckpt_sys_getpid(), (long)&local, 1, (long)&remote, 1, 0) ==
           (long)size;
}

/* Copies the kernel's set at `address` to `own`, without the checkpoint signal. The kernel
 * itself gets an address that is not a valid set. */
static long without_signal(long address, long size, uint64_t *own)
{
    if (address == 0 || size != sizeof(*own) ||
        !copy(SYS_process_vm_readv, own, address, sizeof(*own))) {
        return address;
    }
    *own = ckpt_signals_without_ours(*own);
    return (long)own;
}

_Static_assert(sizeof(struct ckpt_sigaction) == 32 && offsetof(struct ckpt_sigaction, flags) == 8 &&
                   offsetof(struct ckpt_sigaction, mask) == 24,
               "layout of the kernel's sigaction, which the program passes");

static struct sigaction of_kernel(const struct ckpt_sigaction *action)
{
    struct sigaction own = {.sa_flags = (int)action->flags};

    own.sa_handler = (void (*)(int))action->handler;
    own.sa_mask.__val[0] = action->mask;
    return own;
}

/* Acts as sigaction(), so that handlers get our trampoline, with our restorer, which is
 * equivalent to any other. Returns 0 or -errno. */
static int change_action(int signal, long action, long old)
{
    struct ckpt_sigaction given;
    struct sigaction wanted, before;
    int status;

    if (action != 0) {
        if (!copy(SYS_process_vm_readv, &given, action, sizeof(given))) {
            return -EFAULT;
        }
        wanted = of_kernel(&given);
    }
    status = ckpt_signals_action(signal, action != 0 ? &wanted : NULL, &before);
    if (status == 0 && old != 0) {
        given = (struct ckpt_sigaction){.handler = (void *)before.sa_handler,
                                        .flags = (uint32_t)before.sa_flags,
                                        .mask = before.sa_mask.__val[0]};
        status = copy(SYS_process_vm_writev, &given, old, sizeof(given)) ? 0 : -EFAULT;
    }
    return status;
}

static int is_taken_over(long signal, long size)
{
    return ckpt_signals_is_open() && size == sizeof(uint64_t) && signal != SIGNAL_CANCEL &&
           signal != SIGNAL_SETXID;
}

static long act(int signal, long action, long old)
{
    const int status = change_action(signal, action, old);

    if (status != 0) {
        errno = -status;
        return -1;
    }
    return 0;
}

/* The structure that the sixth argument of pselect6 points to. */
struct sized_set {
    long set;
    long size;
};
_Static_assert(sizeof(struct sized_set) == 16, "layout of the kernel's structure");

static long select_without_signal(long a1, long a2, long a3, long a4, long a5, long a6)
{
    struct sized_set own;
    uint64_t set;

    if (a6 != 0 && copy(SYS_process_vm_readv, &own, a6, sizeof(own))) {
        own.set = without_signal(own.set, own.size, &set);
        a6 = (long)&own;
    }
    return ckpt_syscall_plain(SYS_pselect6, a1, a2, a3, a4, a5, a6);
}

static long call_with_id(long number, long a1, long a2, long a3, long a4, long a5, long a6)
{
    switch (number) {
    case SYS_getpid:
        return ckpt_process_id_shown(ckpt_sys_getpid());
    case SYS_gettid:
        return ckpt_thread_id_shown(ckpt_sys_gettid());
    case SYS_kill:
        a1 = ckpt_process_id_of_kernel((int)a1);
        break;
    case SYS_tgkill:
        a1 = ckpt_process_id_of_kernel((int)a1);
        a2 = ckpt_thread_id_of_kernel((int)a2);
        break;
    default: /* the first argument is a thread id */
        a1 = ckpt_thread_id_of_kernel((int)a1);
        break;
    }
    return ckpt_syscall_plain(number, a1, a2, a3, a4, a5, a6);
}

long ckpt_signal_call(long number, long a1, long a2, long a3, long a4, long a5, long a6)
{
    uint64_t set;

    switch (number) {
    case SYS_rt_sigaction:
        if (is_taken_over(a1, a4)) {
            return act((int)a1, a2, a3);
        }
        break;
    case SYS_rt_sigprocmask:
        a2 = without_signal(a2, a4, &set);
        break;
    case SYS_ppoll:
        a4 = without_signal(a4, a5, &set);
        break;
    case SYS_rt_sigtimedwait:
        a1 = without_signal(a1, a4, &set);
        break;
    case SYS_rt_sigsuspend:
        a1 = without_signal(a1, a2, &set);
        break;
    case SYS_epoll_pwait:
    case NUMBER_EPOLL_PWAIT2:
        a5 = without_signal(a5, a6, &set);
        break;
    case SYS_signalfd:
    case SYS_signalfd4:
        a2 = without_signal(a2, a3, &set);
        break;
    case SYS_mmap:
        ckpt_advice_mapping((int)a4);
        break;
    case SYS_mbind:
    case SYS_set_mempolicy:
        ckpt_memory_policy_given();
        break;
    case SYS_madvise:
    case SYS_mlock:
    case SYS_mlock2:
    case NUMBER_MSEAL:
        ckpt_advice_given();
        break;
    case SYS_pselect6:
        return select_without_signal(a1, a2, a3, a4, a5, a6);
    default:
        return call_with_id(number, a1, a2, a3, a4, a5, a6);
    }
    return ckpt_syscall_plain(number, a1, a2, a3, a4, a5, a6);
}
