/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leave_clock.c - implements leave_clock.h.
 *
 * The thread continues in single steps: the processor's trap flag raises SIGTRAP after each
 * instruction. A clock reading takes some hundred instructions. Our handler of SIGTRAP is
 * installed only meanwhile. If another part of this library handles SIGTRAP, the thread stops
 * as it is; the program may then get one reading of the new host's clock.
 */
#include "task/leave_clock.h"

#include "base/invariant.h"
#include "task/program_clock.h"
#include "task/signals.h"
#include "task/write_set.h"

#include <string.h>
#include <ucontext.h>

#define TRAP_FLAG  0x100
#define MOST_STEPS 20000 /* then the thread stops where it is */

/* State of a thread that leaves clock code. */
static __thread struct {
    int is_on;
    int is_over; /* the handler must run now, wherever the thread is */
    int steps;
    uint64_t mask; /* signal mask of the interrupted code */
    siginfo_t info;
    void (*handler)(int, siginfo_t *, void *);
} way __attribute__((tls_model("initial-exec")));

static struct {
    int lock;
    int threads; /* number of threads that single-step */
    struct ckpt_sigaction before;
} trap;

/* All signals are blocked here, so no thread waits long for the lock. */
static void lock(void)
{
    while (__atomic_exchange_n(&trap.lock, 1, __ATOMIC_ACQUIRE) != 0) {
        __builtin_ia32_pause();
    }
}

static void unlock(void)
{
    __atomic_store_n(&trap.lock, 0, __ATOMIC_RELEASE);
}

static void set_mask(ucontext_t *context, uint64_t mask)
{
    memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

static void finish(ucontext_t *context)
{
    siginfo_t info = way.info;

    CKPT_INVARIANT(way.is_on && way.handler != NULL);
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    set_mask(context, way.mask);
    lock();
    CKPT_INVARIANT(trap.threads > 0);
    if (--trap.threads == 0) {
        (void)ckpt_sys_sigaction(SIGTRAP, &trap.before, NULL);
    }
    unlock();
    way.is_on = 0;
    way.is_over = 1;
    way.handler(info.si_signo, &info, context);
}

/* A trap of another thread at the same moment: the program handles it, ignores it, or is ended
 * by it, as without this code. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (trap.before.handler == (void *)SIG_DFL) {
        (void)ckpt_sys_sigaction(SIGTRAP, &trap.before, NULL);
        (void)ckpt_sys_tgkill(ckpt_sys_getpid(), ckpt_sys_gettid(), signal);
    } else if (trap.before.handler != (void *)SIG_IGN) {
        ((void (*)(int, siginfo_t *, void *))trap.before.handler)(signal, info,
                                                                  context);
    }
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *const interrupted = context;

    if (!way.is_on) {
        pass_on(signal, info, context);
    } else if (++way.steps >= MOST_STEPS ||
               !ckpt_clock_is_reading(
                   (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP])) {
        finish(context);
    }
}

/* Installs on_step() for SIGTRAP, unless another part of this library uses it. Returns 1 on
 * success. */
static int take_trap(const struct ckpt_sigaction *handler)
{
    struct ckpt_sigaction action = *handler; /* with the same mask and restorer */
    int is_taken;

    action.handler = (void *)on_step;
    lock();
    is_taken =
        trap.threads > 0 ||
        (ckpt_sys_sigaction(SIGTRAP, NULL, &trap.before) == 0 &&
         !ckpt_write_set_handles(trap.before.handler) &&
         ckpt_sys_sigaction(SIGTRAP, &action, NULL) == 0);
    trap.threads += is_taken;
    CKPT_INVARIANT(trap.threads >= 0);
    unlock();
    return is_taken;
}

int ckpt_leave_clock(const siginfo_t *info, void *context,
                     const struct ckpt_sigaction *handler)
{
    ucontext_t *const interrupted = context;
    greg_t *const registers = interrupted->uc_mcontext.gregs;

    if (!ckpt_clock_is_reading((uint64_t)registers[REG_RIP])) {
        way.is_over = 0;
        return 0;
    }
    if (way.is_over || (registers[REG_EFL] & TRAP_FLAG) != 0) {
        way.is_over = 0; /* already tried, or a debugger steps the thread */
        return 0;
    }
    if (!take_trap(handler)) {
        return 0;
    }
    way.is_on = 1;
    way.steps = 0;
    way.info = *info;
    memcpy(&way.mask, &interrupted->uc_sigmask, sizeof(way.mask));
    way.handler = (void (*)(int, siginfo_t *, void *))handler->handler;
    registers[REG_EFL] |= TRAP_FLAG;
    set_mask(interrupted, ~(CKPT_SIGNAL_BIT(SIGTRAP) | CKPT_SIGNAL_BIT(SIGSEGV) |
                            CKPT_SIGNAL_BIT(SIGBUS)));
    return 1;
}
