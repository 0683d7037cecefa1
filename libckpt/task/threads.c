/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c - the checkpoint signal: parks threads, or notifies.
 *
 * Its frame is on the thread's alternate stack, if the thread has one: run-time systems with
 * small stacks (Go, OCaml) have one for that purpose. The handler continues on one of our
 * stacks. Until it returns the thread has no alternate stack, since a second frame would
 * overwrite the first.
 *
 * A thread parks in the handler. It takes a slot in the table, describes itself there, and
 * waits on a futex until the generation changes. The gate word holds the generation and the
 * number of slots taken. So a late thread can never take a slot after the end of the freeze.
 */
#include "task/threads.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/busy.h"
#include "process/descriptor_room.h"
#include "process/diverted.h"
#include "task/handler_stack.h"
#include "task/interrupted.h"
#include "task/leave_clock.h"
#include "task/memory_policy.h"
#include "task/parking.h"
#include "task/pending.h"
#include "task/program_clock.h"
#include "task/signal_sets.h"
#include "process/xsave.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>

/* Interval of looks: a thread that ends or starts does not wake the leader. */
#define ROUND_MS 5

/* How long a thread may block the checkpoint signal: in a critical section of a run-time
 * system, or in a handler on a small stack (signals.c). */
#define BLOCKED_MS 900

struct ckpt_parking ckpt_parking;

static struct {
    int signal;
    void (*notify)(int in_lower);
    int (*is_lower_thread)(int tid);
    int32_t *asked; /* [CKPT_PARKING_CAPACITY]: threads signalled so far */
    size_t asked_count;
    int deaf;               /* thread for which the last freeze failed, or 0 */
    uint64_t leader_mask;   /* mask before the freeze */
    volatile int is_short;  /* 1: memory for a thread's parking stack is exhausted */
    volatile int measuring; /* thread that sends the signal to itself, or 0 */
    volatile uint32_t frame_size;
} control;

static uint32_t generation_of(uint64_t gate)
{
    return (uint32_t)(gate >> 32);
}

static uint32_t places_of(uint64_t gate)
{
    return (uint32_t)gate;
}

static int is_freeze(uint32_t generation)
{
    return (generation & 1) != 0;
}

static uint64_t load_gate(void)
{
    return __atomic_load_n(&ckpt_parking.gate, __ATOMIC_ACQUIRE);
}

/* Takes a slot. Returns its index, or -1 without a freeze or a free slot. */
static int take_place(uint32_t *generation_p)
{
    uint64_t gate = load_gate();

    do {
        if (!is_freeze(generation_of(gate)) ||
            places_of(gate) == CKPT_PARKING_CAPACITY) {
            return -1;
        }
    } while (!__atomic_compare_exchange_n(&ckpt_parking.gate, &gate, gate + 1,
                                          0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    *generation_p = generation_of(gate);
    return (int)places_of(gate);
}

void ckpt_parking_wait(uint32_t generation)
{
    while (__atomic_load_n(&ckpt_parking.thaw, __ATOMIC_ACQUIRE) ==
           generation) {
        ckpt_sys_futex(&ckpt_parking.thaw, FUTEX_WAIT_PRIVATE, generation,
                       NULL);
    }
}

static void park(void *context)
{
    struct ckpt_thread *thread;
    uint32_t generation;
    int place = take_place(&generation);

    if (place < 0) {
        return;
    }
    CKPT_INVARIANT((uint32_t)place < CKPT_PARKING_CAPACITY && is_freeze(generation));
    thread = &ckpt_parking.thread[place];
    thread->context = (uintptr_t)context;
    ckpt_pending_note_thread();
    ckpt_memory_policy_note((size_t)place);
    ckpt_registrations_read(thread); /* fills in `tid` last */
    __atomic_fetch_add(&ckpt_parking.parked, 1, __ATOMIC_RELEASE);
    ckpt_sys_futex(&ckpt_parking.parked, FUTEX_WAKE_PRIVATE, 1, NULL);
    ckpt_parking_wait(generation);
}

/* State of the code that the signal last interrupted for a call of notify. */
static struct {
    uint64_t mask;
    stack_t stack; /* the thread's alternate stack */
} interrupted_code;

void ckpt_threads_leave_handler(void)
{
    ckpt_handler_stacks_left(CKPT_HANDLER_ANSWERS);
    (void)ckpt_sys_sigaltstack(&interrupted_code.stack, NULL);
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &interrupted_code.mask, NULL);
}

static void note_interrupted_code(const ucontext_t *context)
{
    memcpy(&interrupted_code.mask, &context->uc_sigmask, sizeof(uint64_t));
    interrupted_code.stack = context->uc_stack;
    interrupted_code.stack.ss_flags &= ~SS_ONSTACK; /* the kernel returns this flag, but does
                                                       not accept it */
}

/* The arguments of the handler. */
struct delivery {
    const siginfo_t *info;
    ucontext_t *context;
    int in_lower;
    int is_to_park; /* 1: a leader sent the signal */
    int tid;
};

/* The body of the handler, with the upper thread pointer set, on one of our stacks. */
static void answer(void *argument)
{
    const struct delivery *delivery = argument;
    ucontext_t *const context = delivery->context;
    const stack_t none = {.ss_flags = SS_DISABLE};
    const int in_lower = delivery->in_lower;
    int saved_errno = errno;
    int restarts = !in_lower && ckpt_interrupted_restart(context);
    const uint32_t starts = ckpt_clock_restarts();

    (void)ckpt_sys_sigaltstack(&none, NULL); /* rt_sigreturn restores it */
    if (delivery->is_to_park) {
        /* The freeze may have ended already; then the thread has to do nothing. */
        if (is_freeze(generation_of(load_gate())) &&
            delivery->tid != ckpt_parking.leader) {
            if (in_lower) {
                control.notify(1);
            } else {
                park(context);
            }
        }
    } else {
        note_interrupted_code(context);
        ckpt_busy_set(CKPT_BUSY_ANSWERING);
        ckpt_busy_took();
        control.notify(in_lower);
        ckpt_busy_clear(CKPT_BUSY_ANSWERING);
    }
    if (restarts) {
        ckpt_interrupted_continue(context);
    }
    if (!in_lower && ckpt_clock_restarts() != starts) { /* only on the leader */
        ckpt_interrupted_restarted(context, ckpt_thread_pointer_get());
    }
    errno = saved_errno;
}

/* Runs the body of the handler on a stack of the kind that its work needs. Without memory for a
 * stack it does nothing: a freeze learns the reason, and a message waits for the next
 * signal. */
static __attribute__((noinline)) void
answer_apart(const siginfo_t *info, ucontext_t *context, int in_lower, int tid)
{
    struct delivery delivery = {
        .info = info,
        .context = context,
        .in_lower = in_lower,
        .is_to_park = info->si_code == SI_TKILL && info->si_pid == ckpt_sys_getpid(),
        .tid = tid,
    };
    const enum ckpt_handler_work work =
        delivery.is_to_park && !in_lower ? CKPT_HANDLER_PARKS : CKPT_HANDLER_ANSWERS;

    if (ckpt_handler_stack_run(work, answer, &delivery) != 0) {
        control.is_short = 1;
    }
}

static void on_checkpoint_signal(int signal, siginfo_t *info, void *context);

static const struct ckpt_sigaction action = {
    .handler = (void *)on_checkpoint_signal,
    .flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK | CKPT_SA_RESTORER,
    .restorer = (void *)ckpt_context_restorer,
    .mask = ~UINT64_C(0), /* no other handler runs in a parked thread */
};

/* Uses no TLS: the thread pointer may be the lower half's. */
static void on_checkpoint_signal(int signal, siginfo_t *info, void *context)
{
    uintptr_t interrupted = ckpt_thread_pointer_get();
    const struct ckpt_halves *halves = ckpt_halves_below(interrupted);
    int switched = halves != NULL;
    int in_lower = switched || ckpt_halves_above(interrupted);
    int tid = ckpt_sys_gettid();

    (void)signal;
    if (control.measuring == tid) {
        control.frame_size = ckpt_xsave_size_in(context);
        return;
    }
    if (control.is_lower_thread != NULL && control.is_lower_thread(tid)) {
        return; /* a thread of the lower half itself, not an application's thread in a call */
    }
    if (!switched && ckpt_leave_clock(info, context, &action)) {
        return;
    }
    if (switched) {
        ckpt_thread_pointer_set(halves->upper);
    }
    answer_apart(info, context, in_lower, tid);
    if (!in_lower) { /* the journal may have begun another generation meanwhile */
        ckpt_diverted_rewind(context);
    }
    if (switched) {
        ckpt_thread_pointer_set(interrupted);
    }
}

static long map_table(size_t size)
{
    return ckpt_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Maps the tables, once per process. */
static int map_tables(void)
{
    long threads;
    long asked;

    if (ckpt_parking.thread != NULL) {
        return 0;
    }
    threads = map_table(CKPT_PARKING_CAPACITY * sizeof(struct ckpt_thread));
    if (ckpt_sys_failed(threads)) {
        return (int)threads;
    }
    asked = map_table(CKPT_PARKING_CAPACITY * sizeof(int32_t));
    if (ckpt_sys_failed(asked)) {
        ckpt_sys_munmap((void *)threads, CKPT_PARKING_CAPACITY *
                                             sizeof(struct ckpt_thread));
        return (int)asked;
    }
    ckpt_parking.thread = (struct ckpt_thread *)threads;
    control.asked = (int32_t *)asked;
    return 0;
}

int ckpt_threads_open(int signal, void (*notify)(int in_lower),
                      int (*is_lower_thread)(int tid))
{
    void *tid_address;
    int status;

    /* A kernel without this call (CHECKPOINT_RESTORE) cannot save threads. */
    status = (int)ckpt_sys_prctl(PR_GET_TID_ADDRESS,
                                 (unsigned long)&tid_address, 0, 0, 0);
    if (status != 0) {
        return status;
    }
    status = map_tables();
    if (status == 0) {
        status = ckpt_pending_open();
    }
    if (status == 0) {
        status = ckpt_handler_stacks_open();
    }
    if (status != 0) {
        return status;
    }
    control.signal = signal;
    control.notify = notify;
    control.is_lower_thread = is_lower_thread;
    return (int)ckpt_sys_sigaction(signal, &action, NULL);
}

static int64_t now_ms(void)
{
    struct timespec now;

    ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int has_parked(int tid)
{
    uint32_t places = places_of(load_gate());

    /* A slot that is not yet filled in holds tid 0. */
    for (uint32_t i = 0; i < places; i++) {
        if (__atomic_load_n(&ckpt_parking.thread[i].tid, __ATOMIC_ACQUIRE) ==
            tid) {
            return 1;
        }
    }
    return 0;
}

/* Asks a thread to park, once: a second signal would remain pending. */
static int ask_to_park(int tid)
{
    long status;

    for (size_t i = 0; i < control.asked_count; i++) {
        if (control.asked[i] == tid) {
            return 0;
        }
    }
    CKPT_INVARIANT(control.asked_count <= CKPT_PARKING_CAPACITY);
    if (control.asked_count == CKPT_PARKING_CAPACITY) {
        return -E2BIG;
    }
    status = ckpt_sys_tgkill(ckpt_sys_getpid(), tid, control.signal);
    if (status == 0) {
        control.asked[control.asked_count++] = tid;
    }
    /* ESRCH: the thread has ended. EAGAIN: its signal queue is temporarily full. */
    return status == -ESRCH || status == -EAGAIN ? 0 : (int)status;
}

/* The result of one look at all threads of the process. */
struct round {
    uint32_t running; /* number of threads not yet parked; all have been asked */
    int last;         /* tid of the last one */
    int is_late;      /* 1: a thread that still blocks the signal counts as deaf */
    int deaf;         /* tid of such a thread, or 0 */
};

static int look_at_thread(const struct ckpt_directory_entry *entry,
                          void *argument)
{
    struct round *round = argument;
    uint64_t number;
    int tid;

    if (ckpt_text_decimal(entry->name, &number) == NULL) {
        return 0;
    }
    tid = (int)number;
    if (tid == ckpt_parking.leader || has_parked(tid) ||
        (control.is_lower_thread != NULL && control.is_lower_thread(tid))) {
        return 0;
    }
    round->running++;
    round->last = tid;
    if (round->is_late && ckpt_signal_is_held_up(tid, control.signal)) {
        round->deaf = tid;
    }
    return ask_to_park(tid);
}

static int look_round(struct round *round, int is_late)
{
    *round = (struct round){.is_late = is_late};
    return ckpt_directory_each("/proc/self/task", look_at_thread, round);
}

/* Waits until `expected` threads have parked, for at most ROUND_MS. */
static void wait_for_arrivals(uint32_t expected, int64_t milliseconds)
{
    int64_t end =
        now_ms() + (milliseconds < ROUND_MS ? milliseconds : ROUND_MS);
    int64_t left;
    uint32_t parked;

    while ((parked = __atomic_load_n(&ckpt_parking.parked,
                                     __ATOMIC_ACQUIRE)) < expected &&
           (left = end - now_ms()) > 0) {
        struct timespec timeout = {.tv_nsec = (long)left * 1000000};

        ckpt_sys_futex(&ckpt_parking.parked, FUTEX_WAIT_PRIVATE, parked,
                       &timeout);
    }
}

static void name_of(int tid, char name[17])
{
    char path[64];
    int fd;

    ckpt_text_format(path, sizeof(path), "/proc/self/task/%d/comm", tid);
    fd = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    name[0] = '\0';
    if (fd >= 0) {
        long size = ckpt_sys_read(fd, name, 16);

        name[size > 0 ? size - 1 : 0] = '\0'; /* replaces the newline */
        ckpt_sys_close(fd);
    }
}

static int report_running(struct ckpt_failure *failure, int tid, int timeout_ms)
{
    char name[17];

    name_of(tid, name);
    return ckpt_refuse(failure, CKPT_REFUSAL_THREAD_NOT_STOPPED, -ETIMEDOUT,
                       "thread %d (%s) did not stop within %d ms of signal %d: "
                       "it waits in the kernel",
                       tid, name, timeout_ms, control.signal);
}

static int report_deaf(struct ckpt_failure *failure, int tid)
{
    char name[17];

    control.deaf = tid;
    name_of(tid, name);
    return ckpt_refuse(failure, CKPT_REFUSAL_SIGNAL_BLOCKED, -ETIMEDOUT,
                       "thread %d (%s) blocks signal %d, by which threads are "
                       "stopped for a checkpoint",
                       tid, name, control.signal);
}

static int report_short(struct ckpt_failure *failure)
{
    return ckpt_fail(failure, -ENOMEM,
                     "no memory for the stacks of threads that stop for a checkpoint");
}

/* Returns 1 if the thread for which the last freeze failed has not taken its signal since. */
static int is_still_deaf(void)
{
    const int tid = control.deaf;

    return tid != 0 && tid != ckpt_sys_gettid() &&
           ckpt_signal_is_held_up(tid, control.signal);
}

/* Begins a new generation with an empty table. */
static void open_gate(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t gate = load_gate();
    uint32_t generation = generation_of(gate) + 1;

    CKPT_INVARIANT(is_freeze(generation)); /* the freeze before has been thawed */
    ckpt_busy_set(CKPT_BUSY_FREEZING);
    ckpt_sys_sigprocmask(SIG_SETMASK, &all, &control.leader_mask);
    CKPT_INVARIANT(places_of(gate) <= CKPT_PARKING_CAPACITY);
    for (uint32_t i = 0; i < places_of(gate); i++) {
        ckpt_parking.thread[i].tid = 0;
    }
    control.asked_count = 0;
    control.is_short = 0;
    ckpt_pending_reset();
    ckpt_parking.leader = ckpt_sys_gettid();
    ckpt_parking.parked = 0;
    ckpt_parking.thaw = generation;
    __atomic_store_n(&ckpt_parking.gate, (uint64_t)generation << 32,
                     __ATOMIC_RELEASE);
}

/* Looks at the threads until none is running. It needs two looks without a running thread: a
 * thread may have started another one and parked after the first look had passed it. */
static int stop_threads(int timeout_ms, struct ckpt_failure *failure)
{
    const int64_t begin = now_ms(), deadline = begin + timeout_ms;
    const int blocked_ms = timeout_ms < BLOCKED_MS ? timeout_ms : BLOCKED_MS;
    struct round round;
    int quiet = 0;

    while (quiet < 2) {
        uint32_t parked =
            __atomic_load_n(&ckpt_parking.parked, __ATOMIC_ACQUIRE);
        int status = look_round(&round, now_ms() - begin >= blocked_ms);

        if (status != 0) {
            return ckpt_fail(failure, status,
                             status == -EMFILE
                                 ? "cannot stop the threads of this process: it has all "
                                   "descriptors open that it may have, and needs one "
                                   "(ulimit -Hn; error %d)"
                                 : "cannot stop the threads of this process "
                                   "(error %d)",
                             -status);
        }
        if (round.running == 0) {
            quiet++;
            continue;
        }
        quiet = 0;
        if (control.is_short) {
            return report_short(failure);
        }
        if (round.deaf != 0) {
            return report_deaf(failure, round.deaf);
        }
        if (now_ms() >= deadline) {
            return report_running(failure, round.last, timeout_ms);
        }
        wait_for_arrivals(parked + round.running, deadline - now_ms());
    }
    return 0;
}

int ckpt_threads_freeze(int timeout_ms, struct ckpt_failure *failure)
{
    int status;

    if (is_still_deaf()) {
        return report_deaf(failure, control.deaf);
    }
    control.deaf = 0;
    ckpt_descriptor_room_make();
    open_gate();
    status = stop_threads(timeout_ms, failure);
    if (status != 0) {
        ckpt_threads_thaw();
    }
    return status;
}

int ckpt_threads_are_frozen(void)
{
    return is_freeze(generation_of(load_gate()));
}

void ckpt_threads_thaw(void)
{
    uint64_t gate = load_gate();
    uint32_t generation = generation_of(gate) + 1;
    uint32_t parked;

    if (!is_freeze(generation_of(gate))) {
        return;
    }
    CKPT_INVARIANT(ckpt_parking.leader == ckpt_sys_gettid()); /* who froze, thaws */
    /* Close the gate; the next freeze clears the slots. */
    while (!__atomic_compare_exchange_n(
        &ckpt_parking.gate, &gate,
        (uint64_t)generation << 32 | places_of(gate), 0, __ATOMIC_ACQ_REL,
        __ATOMIC_ACQUIRE)) {
    }
    /* A thread that has taken a slot is in the handler, about to fill it in. */
    while ((parked = __atomic_load_n(&ckpt_parking.parked,
                                     __ATOMIC_ACQUIRE)) < places_of(gate)) {
        ckpt_sys_futex(&ckpt_parking.parked, FUTEX_WAIT_PRIVATE, parked, NULL);
    }
    CKPT_INVARIANT(parked == places_of(gate));
    __atomic_store_n(&ckpt_parking.thaw, generation, __ATOMIC_RELEASE);
    ckpt_sys_futex(&ckpt_parking.thaw, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
    ckpt_busy_clear(CKPT_BUSY_FREEZING);
    ckpt_descriptor_room_leave();
    ckpt_sys_sigprocmask(SIG_SETMASK, &control.leader_mask, NULL);
}

/* Not with tgkill(), which would be a leader's request to park. */
void ckpt_threads_notify(int tid)
{
    siginfo_t info = {.si_signo = control.signal, .si_code = SI_QUEUE};

    CKPT_INVARIANT(control.signal >= 1 && control.signal <= CKPT_SIGNAL_COUNT);
    info.si_pid = ckpt_sys_getpid();
    while (ckpt_syscall4(SYS_rt_tgsigqueueinfo, info.si_pid, tid, control.signal,
                         (long)&info) == -EAGAIN) {
        /* The user's signal queue is temporarily full. */
    }
}

void ckpt_threads_notify_again(void)
{
    ckpt_threads_notify(ckpt_sys_gettid());
}

size_t ckpt_threads_list(const struct ckpt_thread **threads_p)
{
    const size_t count = places_of(load_gate());

    CKPT_INVARIANT(count <= CKPT_PARKING_CAPACITY);
    *threads_p = ckpt_parking.thread;
    return count;
}

/* Measures a signal frame of the leader. A message announced by a merged signal is not lost:
 * the leader looks for messages before it continues. */
static uint32_t measure_frame(void)
{
    const uint64_t signal = CKPT_SIGNAL_BIT(control.signal);
    const int tid = ckpt_sys_gettid();

    control.frame_size = 0;
    control.measuring = tid;
    ckpt_sys_tgkill(ckpt_sys_getpid(), tid, control.signal);
    ckpt_sys_sigprocmask(SIG_UNBLOCK, &signal, NULL);
    ckpt_sys_sigprocmask(SIG_BLOCK, &signal, NULL);
    control.measuring = 0;
    return control.frame_size;
}

int ckpt_threads_check_registers(const struct ckpt_xsave *xsave,
                                 struct ckpt_failure *failure)
{
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);
    int error = 0;

    for (size_t i = 0; i < count && error == 0; i++) {
        error = ckpt_xsave_check_frame(
            xsave, ckpt_xsave_size_in((const void *)(uintptr_t)threads[i].context),
            threads[i].name, failure);
    }
    if (error == 0 && xsave->permitted != 0) {
        char name[17];

        name_of(ckpt_sys_gettid(), name);
        error = ckpt_xsave_check_frame(xsave, measure_frame(), name, failure);
    }
    return error;
}

void ckpt_threads_park_here(void)
{
    int tid = ckpt_sys_gettid();

    if (is_freeze(generation_of(load_gate())) && tid != ckpt_parking.leader) {
        ckpt_sys_tgkill(ckpt_sys_getpid(), tid, control.signal);
    }
}
