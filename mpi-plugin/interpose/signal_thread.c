/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_thread.c - pthread calls that pass another thread's id to the kernel.
 *
 * After a restart glibc remembers thread ids that differ from the kernel's
 * (libckpt/task/thread_ids.c gives the reason), and these calls would pass the
 * remembered id. For a thread that is older than the restart, this code makes
 * the system call itself, with the right id. Otherwise it calls libc.
 *
 * Context of all functions: normal.
 */
#include "config.h"

#include "base/text.h"
#include "interpose/next.h"
#include "sys/syscall.h"
#include "task/robust.h"
#include "task/signals.h"
#include "task/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREAD_NAME_SIZE 16 /* including the NUL */

/* glibc's own signals, for pthread_cancel and set*id. */
#define SIGNAL_CANCEL 32
#define SIGNAL_SETXID 33

/* No restart happens between hold and release, so ids stay valid. */
static uint64_t hold_restarts(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask;

    (void)ckpt_sys_sigprocmask(SIG_BLOCK, &all, &mask);
    return mask;
}

static void release_restarts(uint64_t mask)
{
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
}

_Static_assert(sizeof(pthread_t) == sizeof(uintptr_t), "a pthread_t is an address in glibc");

static int kernel_tid(pthread_t thread)
{
    return ckpt_threads_kernel_tid((uintptr_t)thread, NULL);
}

/* Runs `call` with the kernel's id of `thread` as `tid` and returns its result.
 * Falls through if libc has the right id itself. */
#define RETURN_IF_RENUMBERED(thread, call)   \
    do {                                     \
        uint64_t mask_ = hold_restarts();    \
        int tid = kernel_tid(thread);        \
        int status_ = tid != 0 ? (call) : 0; \
        release_restarts(mask_);             \
        if (tid != 0) {                      \
            return status_;                  \
        }                                    \
    } while (0)

/* Returns the error number of a libc call that returned -1, else 0. */
static int error_of(int result)
{
    return result < 0 ? errno : 0;
}

static int send_signal(int tid, int signal)
{
    long status;

    if (signal == SIGNAL_CANCEL || signal == SIGNAL_SETXID) {
        return EINVAL;
    }
    status = ckpt_sys_tgkill(ckpt_sys_getpid(), tid, signal);
    return status == -ESRCH ? 0 : (int)-status; /* ended, but not joined yet */
}

CKPT_INTERPOSE int pthread_kill(pthread_t thread, int signal)
{
    RETURN_IF_RENUMBERED(thread, send_signal(tid, signal));
    return CKPT_NEXT(pthread_kill)(thread, signal);
}

static int queue_signal(int tid, int signal, union sigval value)
{
    siginfo_t info;

    if (signal == SIGNAL_CANCEL || signal == SIGNAL_SETXID) {
        return EINVAL;
    }
    memset(&info, 0, sizeof(info));
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = ckpt_sys_getpid();
    info.si_uid = getuid();
    info.si_value = value;
    return (int)-ckpt_syscall4(SYS_rt_tgsigqueueinfo, ckpt_sys_getpid(), tid,
                               signal, (long)&info);
}

CKPT_INTERPOSE int pthread_sigqueue(pthread_t thread, int signal,
                                    const union sigval value)
{
    RETURN_IF_RENUMBERED(thread, queue_signal(tid, signal, value));
    return CKPT_NEXT(pthread_sigqueue)(thread, signal, value);
}

CKPT_INTERPOSE int pthread_setaffinity_np(pthread_t thread, size_t size,
                                          const cpu_set_t *set)
{
    RETURN_IF_RENUMBERED(thread, error_of(sched_setaffinity(tid, size, set)));
    return CKPT_NEXT(pthread_setaffinity_np)(thread, size, set);
}

CKPT_INTERPOSE int pthread_getaffinity_np(pthread_t thread, size_t size,
                                          cpu_set_t *set)
{
    RETURN_IF_RENUMBERED(thread, error_of(sched_getaffinity(tid, size, set)));
    return CKPT_NEXT(pthread_getaffinity_np)(thread, size, set);
}

CKPT_INTERPOSE int pthread_setschedparam(pthread_t thread, int policy,
                                         const struct sched_param *parameter)
{
    RETURN_IF_RENUMBERED(
        thread, error_of(sched_setscheduler(tid, policy, parameter)));
    return CKPT_NEXT(pthread_setschedparam)(thread, policy, parameter);
}

static int get_scheduling(int tid, int *policy_p, struct sched_param *parameter)
{
    int policy = sched_getscheduler(tid);

    if (policy < 0 || sched_getparam(tid, parameter) < 0) {
        return errno;
    }
    *policy_p = policy;
    return 0;
}

CKPT_INTERPOSE int pthread_getschedparam(pthread_t thread, int *policy,
                                         struct sched_param *parameter)
{
    RETURN_IF_RENUMBERED(thread, get_scheduling(tid, policy, parameter));
    return CKPT_NEXT(pthread_getschedparam)(thread, policy, parameter);
}

CKPT_INTERPOSE int pthread_setschedprio(pthread_t thread, int priority)
{
    struct sched_param parameter = {.sched_priority = priority};

    RETURN_IF_RENUMBERED(thread, error_of(sched_setparam(tid, &parameter)));
    return CKPT_NEXT(pthread_setschedprio)(thread, priority);
}

static int clock_of(int tid, clockid_t *clock_p)
{
    /* The kernel's clock number for the CPU time of a thread: ~tid, per thread
     * (4), scheduler's clock (2). */
    *clock_p = (clockid_t)(~(unsigned)tid << 3 | 6u);
    return 0;
}

CKPT_INTERPOSE int pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
    RETURN_IF_RENUMBERED(thread, clock_of(tid, clock));
    return CKPT_NEXT(pthread_getcpuclockid)(thread, clock);
}

static int open_name(int tid, int flags)
{
    char path[64];

    ckpt_text_format(path, sizeof(path), "/proc/self/task/%d/comm", tid);
    return (int)ckpt_sys_open(path, flags | O_CLOEXEC, 0);
}

static int set_name(int tid, const char *name)
{
    size_t length = strlen(name);
    long result;
    int fd;

    if (length >= THREAD_NAME_SIZE) {
        return ERANGE;
    }
    fd = open_name(tid, O_WRONLY);
    if (fd < 0) {
        return -fd;
    }
    result = ckpt_sys_write(fd, name, length);
    ckpt_sys_close(fd);
    return result < 0 ? (int)-result : 0;
}

CKPT_INTERPOSE int pthread_setname_np(pthread_t thread, const char *name)
{
    RETURN_IF_RENUMBERED(thread, set_name(tid, name));
    return CKPT_NEXT(pthread_setname_np)(thread, name);
}

static int get_name(int tid, char *buffer, size_t size)
{
    long result;
    int fd;

    if (size < THREAD_NAME_SIZE) {
        return ERANGE;
    }
    fd = open_name(tid, O_RDONLY);
    if (fd < 0) {
        return -fd;
    }
    result = ckpt_sys_read(fd, buffer, size);
    ckpt_sys_close(fd);
    if (result <= 0) {
        return result < 0 ? (int)-result : ESRCH;
    }
    buffer[result - 1] = '\0'; /* replaces the newline */
    return 0;
}

CKPT_INTERPOSE int pthread_getname_np(pthread_t thread, char *buffer,
                                      size_t size)
{
    RETURN_IF_RENUMBERED(thread, get_name(tid, buffer, size));
    return CKPT_NEXT(pthread_getname_np)(thread, buffer, size);
}

/*
 * The next two functions do more inside libc than one system call, so libc must
 * run them. Meanwhile the remembered id is replaced by the kernel's. Limit: if
 * the other thread locks an error-checking or recursive mutex at that moment,
 * the mutex gets the wrong owner. The word is put back only if it still holds
 * our value: the kernel clears it when the thread ends.
 */
static int32_t *lend_kernel_tid(pthread_t thread, int *tid_p,
                                int32_t *remembered_p)
{
    int32_t *word = NULL;

    *tid_p = ckpt_threads_kernel_tid((uintptr_t)thread, &word);
    if (*tid_p == 0) {
        return NULL;
    }
    *remembered_p = *word;
    return __atomic_compare_exchange_n(word, remembered_p, *tid_p, 0,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
               ? word
               : NULL;
}

static void take_back_kernel_tid(int32_t *word, int tid, int32_t remembered)
{
    if (word != NULL) {
        (void)__atomic_compare_exchange_n(word, &tid, remembered, 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
}

CKPT_INTERPOSE int pthread_cancel(pthread_t thread)
{
    int32_t remembered;
    int32_t *word;
    uint64_t mask;
    int status;
    int tid;

    if (thread == pthread_self()) {
        return CKPT_NEXT(pthread_cancel)(thread); /* may not return */
    }
    mask = hold_restarts();
    word = lend_kernel_tid(thread, &tid, &remembered);
    status = CKPT_NEXT(pthread_cancel)(thread);
    take_back_kernel_tid(word, tid, remembered);
    release_restarts(mask);
    return status;
}

CKPT_INTERPOSE int pthread_getattr_np(pthread_t thread,
                                      pthread_attr_t *attributes)
{
    int32_t remembered;
    int32_t *word;
    uint64_t mask = hold_restarts();
    int status;
    int tid;

    word = lend_kernel_tid(thread, &tid, &remembered);
    status = CKPT_NEXT(pthread_getattr_np)(thread, attributes);
    take_back_kernel_tid(word, tid, remembered);
    release_restarts(mask);
    return status;
}

struct start {
    void *(*function)(void *);
    void *argument;
};

/* Each thread's value counts the rounds of libc's destructor calls at the
 * thread's end. The program's destructors may unlock mutexes, so ours acts in
 * the last round. */
static pthread_key_t at_end;
static int at_end_is_open; /* 1 if a key was available */
static pthread_once_t at_end_once = PTHREAD_ONCE_INIT;

static void leave_mutexes(void *round)
{
    const uintptr_t next = (uintptr_t)round + 1;

    if (next > PTHREAD_DESTRUCTOR_ITERATIONS ||
        pthread_setspecific(at_end, (void *)next) != 0) {
        ckpt_robust_abandon();
    }
}

static void open_at_end(void)
{
    at_end_is_open = pthread_key_create(&at_end, leave_mutexes) == 0;
}

static void be_asked_at_end(void)
{
    (void)pthread_once(&at_end_once, open_at_end);
    if (at_end_is_open && pthread_getspecific(at_end) == NULL) {
        (void)pthread_setspecific(at_end, (void *)1);
    }
}

static void *start_registered(void *argument)
{
    struct start start = *(struct start *)argument;

    free(argument);
    be_asked_at_end();
    ckpt_threads_register_self();
    return start.function(start.argument);
}

/* New threads register themselves, see ckpt_threads_register_self. */
CKPT_INTERPOSE int pthread_create(pthread_t *thread_p,
                                  const pthread_attr_t *attributes,
                                  void *(*function)(void *), void *argument)
{
    struct start *start;
    int status;

    if (!ckpt_signals_is_open()) {
        return CKPT_NEXT(pthread_create)(thread_p, attributes, function,
                                         argument);
    }
    be_asked_at_end(); /* before the first thread */
    start = malloc(sizeof(*start));
    if (start == NULL) {
        return EAGAIN;
    }
    *start = (struct start){.function = function, .argument = argument};
    status = CKPT_NEXT(pthread_create)(thread_p, attributes, start_registered,
                                       start);
    if (status != 0) {
        free(start);
    }
    return status;
}
