/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals.c - the application's signal handlers in a process of two halves.
 *
 * The kernel knows one handler of ours, the trampoline; a table holds the application's
 * handlers. The kernel itself handles SA_RESETHAND, SA_NODEFER, masks and stacks. So the kernel
 * is also asked whether a handler is installed. The table is used only for the three values
 * that the trampoline replaces.
 */
#include "task/signals.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/interrupted.h"
#include "task/parking.h"
#include "task/process_id.h"

#include <errno.h>
#include <ucontext.h>

/* The last but one real-time signal; programs often use the first few. */
#define DEFAULT_SIGNAL 63

/* Bytes of stack for a handler of the program and a frame of the checkpoint signal below it. */
#define ROOM_NEEDED ((uintptr_t)128 << 10)

#define NEVER_BLOCKED (CKPT_SIGNAL_BIT(SIGKILL) | CKPT_SIGNAL_BIT(SIGSTOP))

/* glibc's internal signals, for pthread_cancel and set*id. */
#define SIGNAL_CANCEL 32
#define SIGNAL_SETXID 33

typedef void (*handler_t)(int, siginfo_t *, void *);

/* The application's arguments of sigaction. */
struct application_action {
    void *handler; /* kept when the signal is later ignored or reset: a delivery may be in
                      progress */
    uint64_t flags;
    uint64_t mask;
};

static struct {
    int open;
    int signal; /* the checkpoint signal; 0: not set yet */
    uint32_t lock;
    struct application_action action[CKPT_SIGNAL_COUNT + 1];
} control;

static struct {
    struct ckpt_sigaction action[CKPT_SIGNAL_COUNT + 1];
    uint64_t mask;
    stack_t stack;
} saved;

uint64_t ckpt_signals_ours;

static uint64_t checkpoint_bit(void)
{
    return ckpt_signals_ours;
}

static __attribute__((noinline)) void
call_handler(int signal, siginfo_t *info, void *context)
{
    handler_t handler = (handler_t)__atomic_load_n(
        &control.action[signal].handler, __ATOMIC_ACQUIRE);

    uint64_t *mask = (uint64_t *)&((ucontext_t *)context)->uc_sigmask;
    const uint64_t was_blocked = *mask & checkpoint_bit(); /* only a handler can have blocked it */

    CKPT_INVARIANT((uintptr_t)handler > (uintptr_t)SIG_IGN); /* a function */
    ckpt_process_id_show_sender(info);
    handler(signal, info, context); /* handlers with one argument ignore the others */
    *mask &= ~checkpoint_bit() | was_blocked;
}

/* Returns 1 if the stack of the handler has room for a checkpoint. */
static int is_roomy(const ucontext_t *context)
{
    const stack_t *stack = &context->uc_stack;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t end = (uintptr_t)stack->ss_sp;

    return (stack->ss_flags & SS_DISABLE) != 0 || here - end > stack->ss_size ||
           here - end > ROOM_NEEDED;
}

/* Unblocks the checkpoint signal. A handler that may run on an alternate stack begins with the
 * signal blocked: the frame alone could exceed the rest of that stack. */
static void open_checkpoint_signal(int signal, const ucontext_t *context)
{
    const uint64_t bit = checkpoint_bit();

    if ((control.action[signal].flags & SA_ONSTACK) != 0 && is_roomy(context)) {
        ckpt_sys_sigprocmask(SIG_UNBLOCK, &bit, NULL);
    }
}

/* Uses no TLS: the thread pointer may be the lower half's. */
static void trampoline(int signal, siginfo_t *info, void *context)
{
    uintptr_t interrupted = ckpt_thread_pointer_get();
    struct ckpt_halves *halves = ckpt_halves_below(interrupted);

    CKPT_INVARIANT(signal >= 1 && signal <= CKPT_SIGNAL_COUNT);
    open_checkpoint_signal(signal, (const ucontext_t *)context);
    if (halves == NULL) {
        call_handler(signal, info, context);
        if (!ckpt_halves_above(interrupted)) {
            ckpt_interrupted_defer(context);
        }
        return;
    }
    halves->above = halves->upper;
    ckpt_thread_pointer_set(halves->upper);
    call_handler(signal, info, context);
    halves->above = 0;
    ckpt_thread_pointer_set(interrupted);
}

static int is_function(const void *handler)
{
    return handler != (void *)SIG_DFL && handler != (void *)SIG_IGN;
}

/* No thread parks or runs a handler while it holds the lock. */
static uint64_t take_lock(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask;

    ckpt_sys_sigprocmask(SIG_SETMASK, &all, &mask);
    while (__atomic_exchange_n(&control.lock, 1, __ATOMIC_ACQUIRE) != 0) {
        __builtin_ia32_pause();
    }
    return mask;
}

static void give_lock(uint64_t mask)
{
    CKPT_INVARIANT(control.lock == 1); /* ours */
    __atomic_store_n(&control.lock, 0, __ATOMIC_RELEASE);
    ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Returns the action for the kernel in place of an application's handler. */
static struct ckpt_sigaction
wrapped(const struct application_action *application)
{
    return (struct ckpt_sigaction){
        .handler = (void *)trampoline,
        .flags = application->flags | SA_SIGINFO | CKPT_SA_RESTORER,
        .restorer = (void *)ckpt_context_restorer,
        .mask = (application->flags & SA_ONSTACK) != 0
                    ? application->mask | checkpoint_bit()
                    : application->mask & ~checkpoint_bit(),
    };
}

static int install(int signal, const struct application_action *application)
{
    struct ckpt_sigaction action;

    CKPT_INVARIANT(signal != control.signal); /* its handler is in threads.c */
    if (!is_function(application->handler)) {
        action = (struct ckpt_sigaction){.handler = application->handler,
                                         .flags = application->flags,
                                         .mask = application->mask};
    } else {
        struct application_action *entry = &control.action[signal];

        action = wrapped(application);
        entry->flags = application->flags;
        entry->mask = application->mask;
        __atomic_store_n(&entry->handler, application->handler,
                         __ATOMIC_RELEASE);
    }
    return (int)ckpt_sys_sigaction(signal, &action, NULL);
}

/* Reads the action in force, as the application set it. */
static int current_action(int signal, struct application_action *application)
{
    const struct application_action *entry = &control.action[signal];
    struct ckpt_sigaction action;
    int status = (int)ckpt_sys_sigaction(signal, NULL, &action);

    if (status != 0) {
        return status;
    }
    if (signal == control.signal || action.handler == (void *)trampoline) {
        *application = *entry;
    } else {
        application->handler = action.handler;
        application->flags = action.flags & ~CKPT_SA_RESTORER;
        application->mask = action.mask;
        if (action.handler == (void *)SIG_DFL &&
            (action.flags & SA_RESETHAND) != 0 &&
            (action.flags & CKPT_SA_RESTORER) != 0) {
            /* Our handler, reset by the kernel at its delivery. */
            application->flags = entry->flags;
            application->mask = entry->mask;
        }
    }
    return 0;
}

static struct application_action from_libc(const struct sigaction *action)
{
    return (struct application_action){
        .handler = (void *)action->sa_handler,
        .flags = (uint32_t)action->sa_flags & ~CKPT_SA_RESTORER,
        .mask = action->sa_mask.__val[0] & ~NEVER_BLOCKED,
    };
}

static void to_libc(const struct application_action *application,
                    struct sigaction *action)
{
    *action = (struct sigaction){.sa_flags = (int)application->flags};
    action->sa_handler = (void (*)(int))application->handler;
    action->sa_mask.__val[0] = application->mask;
}

int ckpt_signals_action(int signal, const struct sigaction *action,
                        struct sigaction *old)
{
    struct application_action wanted = {0};
    struct application_action before = {0};
    uint64_t mask;
    int status;

    if (signal < 1 || signal > CKPT_SIGNAL_COUNT || signal == SIGNAL_CANCEL ||
        signal == SIGNAL_SETXID ||
        (action != NULL && (signal == SIGKILL || signal == SIGSTOP))) {
        return -EINVAL;
    }
    if (action != NULL) { /* read first: may alias `old` */
        wanted = from_libc(action);
    }
    mask = take_lock();
    status = current_action(signal, &before);
    if (status == 0 && action != NULL) {
        if (signal == control.signal) {
            control.action[signal] = wanted;
        } else {
            status = install(signal, &wanted);
        }
    }
    give_lock(mask);
    if (status == 0 && old != NULL) {
        to_libc(&before, old);
    }
    return status;
}

uint64_t ckpt_signals_without_ours(uint64_t set)
{
    return set & ~checkpoint_bit();
}

void ckpt_signals_strip(sigset_t *set)
{
    set->__val[0] = ckpt_signals_without_ours(set->__val[0]);
}

int ckpt_signals_number(const char *text)
{
    uint64_t value;
    const char *end = text != NULL ? ckpt_text_decimal(text, &value) : NULL;

    if (end == NULL || *end != '\0' || value < 1 ||
        value > CKPT_SIGNAL_COUNT) {
        return DEFAULT_SIGNAL;
    }
    return (int)value;
}

void ckpt_signals_reserve(int signal)
{
    CKPT_INVARIANT(signal >= 1 && signal <= CKPT_SIGNAL_COUNT);
    control.signal = signal;
    ckpt_signals_ours = CKPT_SIGNAL_BIT(signal);
}

/* Installs the trampoline for handlers that exist already. */
static int wrap_installed(void)
{
    for (int signal = 1; signal <= CKPT_SIGNAL_COUNT; signal++) {
        struct ckpt_sigaction action;
        int status;

        if (signal == control.signal) {
            continue;
        }
        status = (int)ckpt_sys_sigaction(signal, NULL, &action);
        if (status == 0 && is_function(action.handler) &&
            action.handler != (void *)trampoline) {
            struct application_action application = {
                .handler = action.handler,
                .flags = action.flags & ~CKPT_SA_RESTORER,
                .mask = action.mask,
            };
            status = install(signal, &application);
        }
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

int ckpt_signals_open(int signal)
{
    uint64_t mask;
    int status;

    if (signal < 1 || signal > CKPT_SIGNAL_COUNT) {
        return -EINVAL;
    }
    ckpt_signals_reserve(signal);
    mask = take_lock();
    status = wrap_installed();
    control.open = status == 0;
    give_lock(mask & ~checkpoint_bit());
    return status;
}

int ckpt_signals_is_open(void)
{
    return control.open;
}

void ckpt_signals_save(void)
{
    for (int signal = 1; signal <= CKPT_SIGNAL_COUNT; signal++) {
        ckpt_sys_sigaction(signal, NULL, &saved.action[signal]);
    }
    ckpt_sys_sigprocmask(SIG_SETMASK, NULL, &saved.mask);
    ckpt_sys_sigaltstack(NULL, &saved.stack);
}

void ckpt_signals_restore(void)
{
    for (int signal = 1; signal <= CKPT_SIGNAL_COUNT; signal++) {
        if (signal != SIGKILL && signal != SIGSTOP) {
            ckpt_sys_sigaction(signal, &saved.action[signal], NULL);
        }
    }
    /* The kernel returns SS_ONSTACK, but does not accept it. */
    saved.stack.ss_flags &= ~SS_ONSTACK;
    ckpt_sys_sigaltstack(&saved.stack, NULL);
    ckpt_sys_sigprocmask(SIG_SETMASK, &saved.mask, NULL);
}
