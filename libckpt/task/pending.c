/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.c - saves pending signals: blocked signals that have arrived.
 *
 * Only the process itself can read the data of a pending signal, by taking it. So each signal
 * is taken, recorded and sent again at once with the same sender: a thread may send any siginfo
 * to itself, and the main thread to the process. /proc distinguishes signals of the process
 * from those of a thread: a thread first takes its own.
 *
 * Limits: a signal with the same real-time number that arrives in between overtakes. A signal
 * from the kernel or kill() for a single thread seems to come from this process after a
 * restart; if the leader is not the main thread, it does so at once. timer_getoverrun() is 0
 * after a restart for a recorded expiration; its siginfo has the number.
 */
#include "task/pending.h"

#include "base/invariant.h"
#include "sys/syscall.h"
#include "task/parking.h"
#include "task/process_id.h"
#include "task/signal_sets.h"
#include "task/signals.h"
#include "task/threads.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

/* More than the usual limit (RLIMIT_SIGPENDING); uses memory only when needed. */
#define CAPACITY 65536u

struct waiting {
    int32_t tid;      /* 0: for the process */
    int32_t is_taken; /* 1: the other fields are valid; other threads read while slots are being
                         filled in */
    siginfo_t info;
};

static struct waiting *table;
static uint32_t count;    /* slots taken; may exceed CAPACITY */
static int32_t saved_pid; /* pid of this process at the checkpoint */

int ckpt_pending_open(void)
{
    long memory;

    if (table != NULL) {
        return 0;
    }
    memory = ckpt_sys_mmap(NULL, CAPACITY * sizeof(*table),
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ckpt_sys_failed(memory)) {
        return (int)memory;
    }
    table = (struct waiting *)memory;
    return 0;
}

static uint32_t places(void)
{
    uint32_t taken = __atomic_load_n(&count, __ATOMIC_RELAXED);

    return taken < CAPACITY ? taken : CAPACITY;
}

void ckpt_pending_reset(void)
{
    for (uint32_t i = 0; i < places(); i++) {
        table[i].is_taken = 0;
    }
    count = 0;
    saved_pid = ckpt_sys_getpid();
}

uint64_t ckpt_pending_own(void)
{
    struct ckpt_signal_sets sets;

    (void)ckpt_signal_sets_read(0, &sets); /* empty sets on error */
    return sets.waiting;
}

/* Returns the signals pending for the calling thread or for the process. */
static uint64_t all_waiting(void)
{
    uint64_t bits = 0;

    ckpt_syscall3(SYS_rt_sigpending, (long)&bits, sizeof(bits), 0);
    return ckpt_signals_without_ours(bits);
}

/* Takes and records one of these signals. Returns 1 if one was pending. */
static int take(uint64_t signals, int32_t tid)
{
    const struct timespec at_once = {0, 0};
    uint32_t place = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    long signal;

    if (place >= CAPACITY) {
        return 0;
    }
    signal = ckpt_syscall4(SYS_rt_sigtimedwait, (long)&signals,
                           (long)&table[place].info, (long)&at_once,
                           sizeof(signals));
    if (signal > 0) { /* otherwise the slot stays empty */
        /* It is one of those asked for, and never the checkpoint signal. */
        CKPT_INVARIANT(signal <= CKPT_SIGNAL_COUNT && (signals & CKPT_SIGNAL_BIT(signal)) != 0);
        CKPT_INVARIANT(ckpt_signals_without_ours(CKPT_SIGNAL_BIT(signal)) != 0);
        table[place].tid = tid;
        __atomic_store_n(&table[place].is_taken, 1, __ATOMIC_RELEASE);
    }
    return signal > 0;
}

static int is_taken(uint32_t place)
{
    return __atomic_load_n(&table[place].is_taken, __ATOMIC_ACQUIRE);
}

static long send_once(int32_t tid, siginfo_t *info)
{
    const int pid = ckpt_sys_getpid(), signal = info->si_signo;
    long status;

    CKPT_INVARIANT(signal >= 1 && signal <= CKPT_SIGNAL_COUNT);
    if (tid != 0) {
        status = ckpt_syscall4(SYS_rt_tgsigqueueinfo, pid, tid, signal,
                               (long)info);
        return status == -EPERM ? ckpt_sys_tgkill(pid, tid, signal) : status;
    }
    status = ckpt_syscall3(SYS_rt_sigqueueinfo, pid, signal, (long)info);
    return status == -EPERM ? ckpt_sys_kill(pid, signal) : status;
}

/* Sends a signal with all its data, or by kill() if only the kernel may send such data. A full
 * queue is temporary: other processes of the user have taken our places in it. */
static long send(int32_t tid, siginfo_t *info)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    long status;

    do {
        status = send_once(tid, info);
    } while (status == -EAGAIN && ckpt_sys_nanosleep(&moment, NULL) == 0);
    return status;
}

/* Sends the recorded signals again, for a thread or the process, starting at `first`. */
static void give_back(uint32_t first, int32_t tid)
{
    CKPT_INVARIANT(first <= places());
    for (uint32_t i = first; i < places(); i++) {
        if (is_taken(i) && table[i].tid == tid) {
            (void)send(tid, &table[i].info);
        }
    }
}

/* Takes and records the signals pending for the calling thread alone. */
static void take_own(int32_t tid)
{
    uint64_t own;

    while ((own = ckpt_signals_without_ours(ckpt_pending_own())) != 0 && take(own, tid)) {
    }
}

void ckpt_pending_note_thread(void)
{
    const uint32_t first = places();
    const int tid = ckpt_sys_gettid();

    if (all_waiting() != 0) {
        take_own(tid);
        give_back(first, tid);
    }
}

int ckpt_pending_save(struct ckpt_failure *failure)
{
    const uint32_t first = places();
    const int tid = ckpt_sys_gettid();
    uint64_t all;

    if (all_waiting() != 0) {
        take_own(tid);
        while ((all = all_waiting()) != 0 && take(all, 0)) {
        }
        give_back(first, tid);
        give_back(first, 0);
    }
    return count <= CAPACITY
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, -E2BIG,
                             "more than %u signals are waiting",
                             CAPACITY);
}

/* If this process had sent the signal to itself, replaces the old process id of the sender. */
static void readdress(siginfo_t *info)
{
    if ((info->si_code == SI_USER || info->si_code == SI_QUEUE ||
         info->si_code == SI_TKILL) &&
        info->si_pid == saved_pid) {
        info->si_pid = ckpt_process_id_shown(ckpt_sys_getpid());
    }
}

int ckpt_pending_restore(struct ckpt_failure *failure)
{
    for (uint32_t i = 0; i < places(); i++) {
        struct waiting *waiting = &table[i];
        int tid = 0;
        long status;

        if (!is_taken(i)) {
            continue;
        }
        if (waiting->tid != 0) {
            tid = ckpt_threads_renumbered(waiting->tid);
        }
        readdress(&waiting->info);
        status = tid < 0 ? tid : send(tid, &waiting->info);
        if (status != 0) {
            return ckpt_fail(failure, (int)status,
                             "signal %d cannot be sent again: error %l",
                             waiting->info.si_signo, -status);
        }
    }
    return 0;
}
