/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service_thread.c - the thread that answers the agent.
 *
 * It blocks all signals, so it never runs the application's handlers. While it
 * waits it unblocks the checkpoint signal, which only ends the wait.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cut/service/service_thread.h"

#include "base/invariant.h"
#include "cut/service/attach.h"
#include "link/agent_link.h"
#include "link/shell_order.h"
#include "runtime/crossing.h"
#include "sys/syscall.h"
#include "task/busy.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STACK_SIZE (512ul * 1024)
#define END        (-2)
#define LOOK_MS    100 /* period at which the last thread looks for others */

static struct {
    pthread_t thread;
    int started;
    int able;
    struct ckpt_failure reason;
    uint32_t attached; /* futex */
    volatile int tid;  /* the kernel's thread id; changes at a restart */
} thread;

/* Waits for a message for at most `ms`, or until the checkpoint signal. The
 * system call's number comes from memory so that task/interrupted.c leaves its
 * EINTR alone. */
static void wait_for_message(int ms)
{
    static const volatile long number = SYS_ppoll;
    const uint64_t mask = ~CKPT_SIGNAL_BIT(ckpt_checkpoint_signal());
    struct pollfd entry = {.fd = ckpt_agent_descriptor(), .events = POLLIN};
    struct timespec timeout = {ms / 1000, (long)(ms % 1000) * 1000000};

    (void)ckpt_syscall6(number, (long)&entry, 1, ms < 0 ? 0 : (long)&timeout,
                        (long)&mask, sizeof(mask), 0);
}

/* Returns 1 if no thread of the application is left. */
static int is_last(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    int others = 0;

    if (tasks == NULL) {
        return 0;
    }
    while ((entry = readdir(tasks)) != NULL) {
        const int tid = atoi(entry->d_name);

        others += tid != 0 && tid != thread.tid && !ckpt_lower.owns_thread(tid);
    }
    closedir(tasks);
    return others == 0;
}

/*
 * Keeps this thread alive. After a restart it is the first thread of the
 * process, and much of what /proc/self shows would end with it. The process
 * must end with the last thread of the application (pthread_exit(3)), but libc
 * counts this thread, too.
 */
static void stay(void)
{
    while (!is_last()) {
        (void)ckpt_sys_poll(NULL, 0, LOOK_MS);
    }
    exit(0);
}

static void *serve(void *unused)
{
    int ms = 0;

    (void)unused;
    ckpt_thread_context_get()->serving = 1;
    if (!ckpt_service_attach(thread.able, &thread.reason)) {
        ms = END;
    }
    __atomic_store_n(&thread.attached, 1, __ATOMIC_RELEASE);
    (void)ckpt_sys_futex(&thread.attached, FUTEX_WAKE_PRIVATE, 1, NULL);
    thread.tid = ckpt_sys_gettid();
    while (ms != END) {
        ckpt_shell_look(); /* without the lock: another thread may have it for ever */
        ms = ckpt_service_turn();
        if (ms != END) {
            wait_for_message(ms);
        }
    }
    ckpt_thread_context_own->serving = 0;
    if (ckpt_sys_gettid() == ckpt_sys_getpid()) {
        stay();
    }
    return NULL;
}

static int make(void)
{
    const uint64_t all = ~UINT64_C(0);
    pthread_attr_t attributes;
    uint64_t mask;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &all, &mask);
    error = pthread_create(&thread.thread, &attributes, serve, NULL);
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}

void ckpt_service_thread_start(int able, const struct ckpt_failure *reason)
{
    int error;

    CKPT_INVARIANT(ckpt_multiple && !thread.started);
    ckpt_busy_set(CKPT_BUSY_APART);
    thread.able = able;
    thread.reason = *reason;
    error = make();
    if (error != 0) { /* the other ranks wait for this one to attach */
        (void)ckpt_fail(&thread.reason, error, "no thread: error %d", -error);
        (void)ckpt_service_attach(0, &thread.reason);
        return;
    }
    thread.started = 1;
    while (__atomic_load_n(&thread.attached, __ATOMIC_ACQUIRE) == 0) {
        (void)ckpt_sys_futex(&thread.attached, FUTEX_WAIT_PRIVATE, 0, NULL);
    }
}

void ckpt_service_thread_restarted(void)
{
    thread.tid = ckpt_sys_gettid();
    if (thread.started) {
        ckpt_busy_set(CKPT_BUSY_APART);
    }
}

void ckpt_service_thread_end(void)
{
    if (!thread.started) {
        return;
    }
    thread.started = 0;
    (void)ckpt_sys_tgkill(ckpt_sys_getpid(), thread.tid,
                          ckpt_checkpoint_signal());
    if (thread.tid != ckpt_sys_getpid()) {
        pthread_join(thread.thread, NULL);
    }
}
