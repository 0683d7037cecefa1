/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halt.c - halt all threads of the lower half, then let them run on or end them.
 *
 * A thread that has ended cannot be brought back. So no thread ends before all have shown that
 * they can: each one first waits in a handler. If one does not come there, all run on.
 *
 * The handler runs with the thread pointer of a lower thread. It uses no TLS and no lock.
 */
#include "lower/halt.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"
#include "task/parking.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

#define SIGHALT     32   /* libc's SIGCANCEL; lower threads block all others */
#define THREADS_MAX 1024 /* as ckpt-host's */
#define TURN_MS     10
#define MS_NS       INT64_C(1000000)
#define SECOND_NS   INT64_C(1000000000)

enum verdict {
    RUN_ON = 0, /* nothing is halted */
    WAIT,
    END,
};

static uint32_t verdict; /* futex: enum verdict */
static uint32_t waiting; /* futex: threads in the handler */
static int (*owns_thread)(int tid);
static int threads[THREADS_MAX];
static uint32_t thread_count;
static struct ckpt_sigaction former; /* the action of the application's libc */

/* A signal may come late, after its halt is over; and the action stays if one is late. */
static void handle(int signal, siginfo_t *info, void *context)
{
    if (!owns_thread(ckpt_sys_gettid())) {
        if (former.handler != (void *)SIG_DFL && former.handler != (void *)SIG_IGN) {
            ((void (*)(int, siginfo_t *, void *))former.handler)(signal, info, context);
        }
        return;
    }
    (void)__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    (void)ckpt_sys_futex(&waiting, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
    while (__atomic_load_n(&verdict, __ATOMIC_SEQ_CST) == WAIT) {
        (void)ckpt_sys_futex(&verdict, FUTEX_WAIT_PRIVATE, WAIT, NULL);
    }
    if (__atomic_load_n(&verdict, __ATOMIC_SEQ_CST) == END) {
        for (;;) {
            (void)ckpt_syscall3(SYS_exit, 0, 0, 0);
        }
    }
    (void)__atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    (void)ckpt_sys_futex(&waiting, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

/* Installs our handler. It keeps its place after a thread has not come in time. */
static int install(void)
{
    const struct ckpt_sigaction action = {
        .handler = (void *)handle,
        .flags = SA_SIGINFO | SA_RESTART | CKPT_SA_RESTORER,
        .restorer = (void *)ckpt_context_restorer,
        .mask = ~UINT64_C(0)};
    struct ckpt_sigaction present;
    long error = ckpt_sys_sigaction(SIGHALT, &action, &present);

    if (error == 0 && present.handler != (void *)handle) {
        former = present;
    }
    return (int)error;
}

static int is_listed(int tid)
{
    for (uint32_t i = 0; i < thread_count; i++) {
        if (threads[i] == tid) {
            return 1;
        }
    }
    return 0;
}

/* Calls a lower thread that has not been called yet. */
static int call_thread(const struct ckpt_directory_entry *entry, void *unused)
{
    uint64_t tid;

    (void)unused;
    if (ckpt_text_decimal(entry->name, &tid) == NULL || !owns_thread((int)tid) ||
        is_listed((int)tid)) {
        return 0;
    }
    if (thread_count == THREADS_MAX) {
        return -E2BIG;
    }
    if (ckpt_sys_tgkill(ckpt_sys_getpid(), (int)tid, SIGHALT) == 0) {
        threads[thread_count++] = (int)tid;
    }
    return 0;
}

static int exists(int tid)
{
    return ckpt_sys_tgkill(ckpt_sys_getpid(), tid, 0) == 0;
}

/* Returns the time that is left until `end`, 0 if none is. */
static struct timespec left_until(int64_t end)
{
    struct timespec now = {0, 0};
    int64_t left;

    (void)ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &now);
    left = end - (now.tv_sec * SECOND_NS + now.tv_nsec);
    left = left > 0 ? left : 0;
    return (struct timespec){left / SECOND_NS, left % SECOND_NS};
}

static int64_t end_of(int timeout_ms)
{
    struct timespec now = {0, 0};

    CKPT_INVARIANT(timeout_ms > 0);
    (void)ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec + timeout_ms * MS_NS;
}

/* Drops threads that have ended before the signal reached them. */
static void drop_ended(void)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < thread_count; i++) {
        if (exists(threads[i])) {
            threads[kept++] = threads[i];
        }
    }
    thread_count = kept;
}

/* Waits until all called threads are in the handler. Returns 0 or -ETIMEDOUT. */
static int await_called(int64_t end)
{
    const struct timespec turn = {0, TURN_MS * MS_NS};
    struct timespec left = left_until(end);
    uint32_t now;

    while ((now = __atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) != thread_count) {
        if (left.tv_sec == 0 && left.tv_nsec == 0) {
            return -ETIMEDOUT;
        }
        (void)ckpt_sys_futex(&waiting, FUTEX_WAIT_PRIVATE, now, &turn);
        drop_ended();
        left = left_until(end);
    }
    return 0;
}

/* Calls all threads, and again those that called ones were just making. Returns 0 or -errno. */
static int call_all(int64_t end)
{
    uint32_t before;
    int error;

    thread_count = 0;
    do {
        before = thread_count;
        error = ckpt_directory_each("/proc/self/task", call_thread, NULL);
        if (error == 0) {
            error = await_called(end);
        }
    } while (error == 0 && thread_count > before);
    return error;
}

static void tell(enum verdict now)
{
    __atomic_store_n(&verdict, now, __ATOMIC_SEQ_CST);
    (void)ckpt_sys_futex(&verdict, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

int ckpt_halt(const struct ckpt_lower *table, int timeout_ms, struct ckpt_failure *failure)
{
    const int64_t end = end_of(timeout_ms);
    int error;

    CKPT_INVARIANT(verdict == RUN_ON && table->owns_thread != NULL);
    if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_LIBRARY_BUSY, -EBUSY,
                           "a thread of the MPI library still leaves its last halt");
    }
    owns_thread = table->owns_thread;
    error = install();
    if (error != 0) {
        return ckpt_fail(failure, error, "signal %d cannot be used: error %d", SIGHALT, -error);
    }
    tell(WAIT);
    error = call_all(end);
    if (error != 0) {
        const uint32_t came = __atomic_load_n(&waiting, __ATOMIC_SEQ_CST);

        tell(RUN_ON);
        return ckpt_refuse(failure, CKPT_REFUSAL_LIBRARY_BUSY, error,
                           "%u of %u threads of the MPI library do not halt (error %d)",
                           thread_count - came, thread_count, -error);
    }
    return 0;
}

void ckpt_halt_over(void)
{
    CKPT_INVARIANT(verdict == WAIT);
    tell(RUN_ON);
    (void)ckpt_sys_sigaction(SIGHALT, &former, NULL);
}

int ckpt_halt_end(int timeout_ms, struct ckpt_failure *failure)
{
    const int64_t end = end_of(timeout_ms);
    struct timespec left;

    CKPT_INVARIANT(verdict == WAIT && waiting == thread_count);
    tell(END);
    for (uint32_t i = 0; i < thread_count; i++) {
        while (exists(threads[i])) { /* until the kernel has let it go */
            left = left_until(end);
            if (left.tv_sec == 0 && left.tv_nsec == 0) {
                return ckpt_fail(failure, -ETIMEDOUT, "thread %d of the MPI library does not end",
                                 threads[i]);
            }
            (void)ckpt_syscall3(SYS_sched_yield, 0, 0, 0);
        }
    }
    waiting = 0;
    verdict = RUN_ON;
    (void)ckpt_sys_sigaction(SIGHALT, &former, NULL);
    return 0;
}
