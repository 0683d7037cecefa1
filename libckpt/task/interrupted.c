/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interrupted.c - restarts system calls that the checkpoint signal interrupted.
 *
 * With SA_RESTART the kernel restarts most calls, but never those with a timeout (signal(7)
 * lists them). They fail with EINTR, which a program without handlers may not expect. The
 * signal frame does not contain the number of the call. But libc sets the number just before
 * the call: `mov $number, %eax`, perhaps other registers, `syscall`. Our syscall() has it on
 * the stack. A call made in another way keeps its EINTR.
 *
 * The restart has the effect of a signal that arrives just before the call. Signals that only
 * the call itself unblocks are still blocked then, and end the restarted call.
 *
 * The remaining timeout: some calls report it (nanosleep if the program asks for it, select in
 * its argument). For other calls the interposers announce the call before they make it. A call
 * that was not announced restarts with its full timeout the first time; from then on this code
 * knows its end.
 */
#include "task/interrupted.h"

#include "base/invariant.h"
#include "sys/futex_clock.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/deadline.h"
#include "process/diverted.h"
#include "task/parking.h"
#include "task/pending.h"
#include "task/program_clock.h"
#include "task/signals.h"
#include "task/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#define SYSCALL_SIZE      2 /* syscall: 0f 05 */
#define MOVE_SIZE         5 /* mov: b8 and 32 bits */
#define MOST_LOADS        7
#define RED_ZONE          128 /* bytes below the stack pointer (System V ABI, x86-64) */
#define NANOSECONDS       1000000000
#define NANOSECONDS_IN_MS 1000000

/* Missing from older headers. */
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif
#define NUMBER_IO_URING_ENTER 426
#define NUMBER_EPOLL_PWAIT2   441

/* Lies in saved memory; a restarted call reads its timeout from here. */
static __thread struct ckpt_timed_call call
    __attribute__((tls_model("initial-exec")));

/* Return address of the system call in interpose/syscall.S. */
extern const unsigned char ckpt_syscall_return[] __attribute__((weak));

static int64_t nanoseconds_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * NANOSECONDS + time->tv_nsec;
}

struct ckpt_timed_call ckpt_timed_call_begin(long number, int64_t nanoseconds,
                                             int milliseconds)
{
    struct ckpt_timed_call before = call;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* through the vDSO */
    call.deadline = nanoseconds_of(&now) + nanoseconds;
    call.milliseconds = milliseconds;
    call.number = number;
    return before;
}

void ckpt_timed_call_end(const struct ckpt_timed_call *before)
{
    call = *before;
}

/* Returns the length of the instruction that ends at `end` if it loads an argument from the
 * stack or from another register, else 0. */
static int load_before(const unsigned char *end)
{
    for (int length = 5; length >= 2; length--) {
        const unsigned char *at = end - length;
        int is_wide = (*at & 0xf0) == 0x40; /* REX prefix */
        int rest = length - is_wide;

        at += is_wide;
        if (at[0] != 0x8b && at[0] != 0x89) {
            continue;
        }
        if ((rest == 2 && (at[1] & 0xc0) == 0xc0) ||
            (rest == 3 && (at[1] & 0xc7) == 0x04 && at[2] == 0x24) ||
            (rest == 4 && (at[1] & 0xc7) == 0x44 && at[2] == 0x24)) {
            return length;
        }
    }
    return 0;
}

/* Returns the number of the system call that ends at `end`, or -1. */
static long number_before(const unsigned char *end, const uint64_t *stack)
{
    int32_t number;
    int length = SYSCALL_SIZE;

    if (ckpt_syscall_return != NULL && end == ckpt_syscall_return) {
        return (long)*stack;
    }
    number = (int32_t)ckpt_diverted_number(end - SYSCALL_SIZE);
    if (number >= 0) {
        return number;
    }
    if (end[-2] != 0x0f || end[-1] != 0x05) {
        return -1;
    }
    for (int i = 0; i < MOST_LOADS && length != 0; i++) {
        end -= length;
        if (end[-MOVE_SIZE] == 0xb8) {
            memcpy(&number, end - MOVE_SIZE + 1, sizeof(number));
            return number;
        }
        length = load_before(end);
    }
    return -1;
}

static int may_restart(long number)
{
    switch (number) {
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case NUMBER_EPOLL_PWAIT2:
    case SYS_futex:
    case CKPT_NUMBER_FUTEX_WAITV:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
    case SYS_io_getevents:
    case NUMBER_IO_URING_ENTER:
    /* On a socket with a timeout, before any data was received or sent. */
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
        return 1;
    default:
        return 0;
    }
}

/* Returns the register of a timeout in milliseconds, or NULL. */
static greg_t *milliseconds_of(long number, greg_t *registers)
{
    switch (number) {
    case SYS_poll:
        return &registers[REG_RDX];
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return &registers[REG_R10];
    default:
        return NULL;
    }
}

/* Returns the register with the address of a relative timeout that the kernel does not modify,
 * or NULL. */
static greg_t *timeout_of(long number, greg_t *registers)
{
    greg_t clock = registers[REG_RDI];

    switch (number) {
    case SYS_nanosleep:
        return &registers[REG_RDI];
    case SYS_clock_nanosleep:
        return (registers[REG_RSI] & TIMER_ABSTIME) == 0 &&
                       (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ||
                        clock == CLOCK_BOOTTIME || clock == CLOCK_TAI)
                   ? &registers[REG_RDX]
                   : NULL;
    case SYS_futex:
        return (registers[REG_RSI] & FUTEX_CMD_MASK) == FUTEX_WAIT
                   ? &registers[REG_R10]
                   : NULL;
    case SYS_rt_sigtimedwait:
        return &registers[REG_RDX];
    case SYS_semtimedop:
    case NUMBER_EPOLL_PWAIT2:
        return &registers[REG_R10];
    case SYS_io_getevents:
        return &registers[REG_R8];
    default:
        return NULL;
    }
}

/* Returns the address to which the kernel has written the remaining time, or NULL. */
static const struct timespec *told_rest(long number, const greg_t *registers)
{
    switch (number) {
    case SYS_nanosleep:
        return (const struct timespec *)registers[REG_RSI];
    case SYS_clock_nanosleep:
        return (const struct timespec *)registers[REG_R10];
    default:
        return NULL;
    }
}

/* libc's nanosleep() makes either of two calls. */
static int is_announced(long number)
{
    return call.number == (number == SYS_nanosleep ? SYS_clock_nanosleep
                                                   : number);
}

static int64_t time_left(void)
{
    int64_t left = call.deadline - ckpt_clock_now();

    return left > 0 ? left : 0;
}

/* Computes the end of a call that still uses the program's own timeout. */
static void learn_deadline(long number, const greg_t *registers,
                           const struct timespec *timeout)
{
    const struct timespec *rest = told_rest(number, registers);

    if (is_announced(number) && rest == NULL) {
        return; /* the announcement set the deadline */
    }
    call.deadline =
        ckpt_clock_now() + nanoseconds_of(rest != NULL ? rest : timeout);
}

static void set_timeout(long number, greg_t *registers)
{
    greg_t *milliseconds = milliseconds_of(number, registers);
    greg_t *timeout = timeout_of(number, registers);
    int64_t left;

    if (milliseconds != NULL && (int)*milliseconds > 0 &&
        call.number == number && call.milliseconds == (int)*milliseconds) {
        left = time_left() + NANOSECONDS_IN_MS - 1;
        call.milliseconds = (int)(left / NANOSECONDS_IN_MS);
        *milliseconds = call.milliseconds;
    } else if (timeout != NULL && *timeout != 0) {
        if (*timeout != (greg_t)&call.left) {
            learn_deadline(number, registers,
                           (const struct timespec *)*timeout);
            *timeout = (greg_t)&call.left;
        }
        left = time_left();
        call.left.tv_sec = left / NANOSECONDS;
        call.left.tv_nsec = left % NANOSECONDS;
        CKPT_INVARIANT(call.left.tv_sec >= 0 && call.left.tv_nsec >= 0);
    }
}

/* Returns the number of the call that has just failed with EINTR, if it can be restarted; else
 * -1. */
static long interrupted_call(const greg_t *registers)
{
    long number;

    if (registers[REG_RAX] != -EINTR) {
        return -1;
    }
    number = number_before((const unsigned char *)registers[REG_RIP],
                           (const uint64_t *)registers[REG_RSP]);
    return may_restart(number) ? number : -1;
}

void ckpt_interrupted_defer(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    uint64_t *mask = (uint64_t *)&context->uc_sigmask;

    if (interrupted_call(registers) < 0 || (*mask & ckpt_signals_ours) != 0) {
        return;
    }
    registers[REG_RSP] -= RED_ZONE + (greg_t)sizeof(uint64_t);
    *(uint64_t *)registers[REG_RSP] = (uint64_t)registers[REG_RIP];
    registers[REG_RIP] = (greg_t)ckpt_context_open_signal;
    *mask |= ckpt_signals_ours;
}

int ckpt_interrupted_restart(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    const long number = interrupted_call(registers);

    if (number < 0) {
        return 0;
    }
    set_timeout(number, registers);
    CKPT_INVARIANT(may_restart(number));
    registers[REG_RAX] = number;
    registers[REG_RIP] -= SYSCALL_SIZE;
    return 1;
}

static uint64_t bits_of(const sigset_t *set)
{
    uint64_t bits;

    memcpy(&bits, set, sizeof(bits));
    return bits;
}

/*
 * Returns 1 if the kernel will deliver a signal as soon as the handler returns. A signal for
 * the process may go to any thread that does not block it; it is attributed to the main thread.
 */
static int is_signalled(const ucontext_t *context)
{
    const uint64_t open = ~bits_of(&context->uc_sigmask);
    sigset_t pending;

    sigemptyset(&pending);
    ckpt_syscall3(SYS_rt_sigpending, (long)&pending, sizeof(uint64_t), 0);
    ckpt_signals_strip(&pending);
    if ((bits_of(&pending) & open) == 0) {
        return 0;
    }
    return ckpt_sys_gettid() == ckpt_sys_getpid() ||
           (bits_of(&pending) & open & ckpt_pending_own()) != 0;
}

void ckpt_interrupted_continue(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;

    set_timeout(registers[REG_RAX], registers);
    if (is_signalled(context)) {
        registers[REG_RAX] = -EINTR;
        registers[REG_RIP] += SYSCALL_SIZE;
    }
}

/* Returns the register with the address of an absolute time, or NULL. */
static greg_t *absolute_time_of(long number, greg_t *registers,
                                clockid_t *clock_p)
{
    switch (number) {
    case SYS_clock_nanosleep:
        *clock_p = (clockid_t)registers[REG_RDI];
        return (registers[REG_RSI] & TIMER_ABSTIME) != 0 ? &registers[REG_RDX]
                                                         : NULL;
    case SYS_futex:
        *clock_p = ckpt_futex_clock((int)registers[REG_RSI]);
        return &registers[REG_R10];
    case CKPT_NUMBER_FUTEX_WAITV:
        *clock_p = (clockid_t)registers[REG_R8];
        return &registers[REG_R10];
    case CKPT_NUMBER_FUTEX_WAIT:
        *clock_p = (clockid_t)registers[REG_R9];
        return &registers[REG_R8];
    default:
        return NULL;
    }
}

void ckpt_interrupted_restarted(ucontext_t *context, uintptr_t thread_pointer)
{
    greg_t *registers = context->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    struct timespec *left =
        (struct timespec *)((uintptr_t)&call.left - ckpt_thread_pointer_get() +
                            thread_pointer);
    clockid_t clock = CLOCK_REALTIME;
    greg_t *time;

    if (code[0] != 0x0f || code[1] != 0x05) {
        return;
    }
    time = absolute_time_of((long)registers[REG_RAX], registers, &clock);
    if (time == NULL || *time == 0 || ckpt_clock_change(clock) == 0 ||
        ckpt_deadline_is_here((const void *)*time, thread_pointer)) {
        return;
    }
    *left = ckpt_clock_add((const struct timespec *)*time,
                           -ckpt_clock_change(clock));
    *time = (greg_t)left;
}

void ckpt_interrupted_threads_restarted(void)
{
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);

    for (size_t i = 0; i < count; i++) {
        ckpt_interrupted_restarted((ucontext_t *)threads[i].context,
                                   threads[i].thread_pointer);
    }
}

/* Returns 1 for a futex() call on a mutex with priority inheritance that will be restarted. */
static int waits_for_owner(const greg_t *registers)
{
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];

    if (registers[REG_RAX] != SYS_futex || code[0] != 0x0f || code[1] != 0x05) {
        return 0;
    }
    switch (registers[REG_RSI] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return 1;
    default:
        return 0;
    }
}

int ckpt_interrupted_check(struct ckpt_failure *failure)
{
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);

    for (size_t i = 0; i < count; i++) {
        CKPT_INVARIANT(threads[i].context != 0 && threads[i].tid != 0); /* it has parked */
        const ucontext_t *context = (const ucontext_t *)threads[i].context;

        if (waits_for_owner(context->uc_mcontext.gregs)) {
            return ckpt_refuse(failure, CKPT_REFUSAL_PRIORITY_MUTEX, -ENOTSUP,
                               "thread %d (%s) waits for a mutex with priority inheritance, "
                               "whose owner could not be told to the kernel after a restart",
                               threads[i].tid, threads[i].name);
        }
    }
    return 0;
}
