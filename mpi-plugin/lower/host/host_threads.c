/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_threads.c - record which threads belong to the lower half.
 *
 * Each thread that the lower half makes gets a stack of ours, so that its
 * memory is known, and a record with its id. It blocks all signals: the
 * application's handlers, and the checkpoint signal's, must never run with a
 * lower thread's thread pointer.
 *
 * The kernel itself signals the end of a thread: it clears the word that libc
 * registered for that. So a record never describes a later thread with the same
 * id.
 *
 * libc installs its own handlers with the first thread and with the first
 * pthread_cancel; this code removes them again.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/host/host_threads.h"

#include "lower/host/change.h"
#include "lower/host/export.h"
#include "sys/syscall.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define THREADS_MAX 1024
#define PAGE        4096ul
/* Two signals are libc's own; the application's libc has its handlers for
 * them. */
#define SIGCANCEL 32
#define SIGSETXID 33

enum place {
    FREE = 0,
    IN_USE
};

struct record {
    uint32_t place;   /* enum place; changed under the lock */
    uint32_t started; /* futex: 1 once tid and tid_word are set */
    int32_t tid;
    const int32_t *tid_word; /* the kernel clears it at the thread's end */
    pthread_t thread;
    int detached; /* it will not be joined */
    int joined;
    void *(*start)(void *);
    void *argument;
    char *stack; /* NULL: the caller's own stack */
    size_t stack_size;
};

/* Records are reused, never moved. */
static struct record records[THREADS_MAX];
static uint32_t record_count; /* used so far */
static struct ckpt_spinlock lock;

/* The action that pthread_cancel has replaced, until the next thread is
 * joined. */
static struct ckpt_sigaction cancel_action;
static int cancel_replaced;

static int is_alive(const struct record *record)
{
    int32_t tid = __atomic_load_n(&record->tid, __ATOMIC_ACQUIRE);

    return tid != 0 &&
           __atomic_load_n(record->tid_word, __ATOMIC_ACQUIRE) == tid;
}

int ckpt_host_owns_thread(int tid)
{
    uint32_t count;

    ckpt_change_wait();
    count = __atomic_load_n(&record_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (__atomic_load_n(&records[i].tid, __ATOMIC_ACQUIRE) == tid &&
            is_alive(&records[i])) {
            return 1;
        }
    }
    return 0;
}

/* Returns 1 if the record's stack is no longer in use. */
static int is_over(const struct record *record)
{
    return record->place == IN_USE && (record->joined || record->detached) &&
           record->started && !is_alive(record);
}

/*
 * Returns a free record, preferably one with a stack of this size. Returns NULL
 * if there are too many threads.
 */
static struct record *take_record(size_t stack_size)
{
    struct record *found = NULL;
    struct record *record;

    ckpt_spinlock_take(&lock);
    for (uint32_t i = 0; i < record_count; i++) {
        record = &records[i];
        if (is_over(record)) {
            record->tid = 0;
            record->place = FREE;
        }
        if (record->place == FREE &&
            (found == NULL || record->stack_size == stack_size)) {
            found = record;
        }
    }
    if ((found == NULL || found->stack_size != stack_size) &&
        record_count < THREADS_MAX) {
        found = &records[record_count];
        __atomic_store_n(&record_count, record_count + 1, __ATOMIC_RELEASE);
    }
    if (found != NULL) {
        CKPT_INVARIANT(found->place == FREE && record_count <= THREADS_MAX);
        found->place = IN_USE;
        found->started = 0;
        found->joined = 0;
    }
    ckpt_spinlock_give(&lock);
    return found;
}

static void give_record(struct record *record)
{
    ckpt_spinlock_take(&lock);
    CKPT_INVARIANT(record->place == IN_USE);
    record->place = FREE;
    ckpt_spinlock_give(&lock);
}

/* Gives the record a stack with a guard page. Returns 0 or ENOMEM. */
static int provide_stack(struct record *record, size_t size)
{
    char *memory;

    CKPT_INVARIANT(size % PAGE == 0);
    if (record->stack != NULL && record->stack_size == size) {
        return 0;
    }
    if (record->stack != NULL) {
        munmap(record->stack - PAGE, record->stack_size + PAGE);
        record->stack = NULL;
        record->stack_size = 0;
    }
    memory = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return ENOMEM;
    }
    mprotect(memory, PAGE, PROT_NONE);
    record->stack = memory + PAGE;
    record->stack_size = size;
    return 0;
}

/* Returns the stack size that libc would choose; 0 if the caller provides a
 * stack. */
static size_t size_of_stack(const pthread_attr_t *attributes)
{
    pthread_attr_t standard;
    void *own = NULL;
    size_t size = 0;

    if (attributes != NULL) {
        pthread_attr_getstack(attributes, &own, &size);
        if (own != NULL && (uintptr_t)own + size != 0) {
            return 0;
        }
        pthread_attr_getstacksize(attributes, &size);
    } else if (pthread_getattr_default_np(&standard) == 0) {
        pthread_attr_getstacksize(&standard, &size);
        pthread_attr_destroy(&standard);
    }
    if (size < (size_t)PTHREAD_STACK_MIN) {
        size = PTHREAD_STACK_MIN;
    }
    return (size + PAGE - 1) & ~(PAGE - 1);
}

/* Returns the word that the kernel clears at this thread's end, as libc
 * requested. On a kernel without PR_GET_TID_ADDRESS returns the record's tid,
 * which run() clears. */
static const int32_t *find_tid_word(const struct record *record)
{
    const int32_t *word = NULL;

    if (ckpt_sys_prctl(PR_GET_TID_ADDRESS, (unsigned long)&word, 0, 0, 0) < 0 ||
        word == NULL) {
        return &record->tid;
    }
    return word;
}

static void *run(void *argument)
{
    const uint64_t blocked = ~CKPT_SIGNAL_BIT(SIGCANCEL);
    struct record *record = argument;
    void *result;

    CKPT_INVARIANT(record->place == IN_USE && record->tid == 0 && record->started == 0);
    ckpt_sys_sigprocmask(SIG_SETMASK, &blocked, NULL);
    record->thread = pthread_self();
    record->tid_word = find_tid_word(record);
    __atomic_store_n(&record->tid, ckpt_sys_gettid(), __ATOMIC_RELEASE);
    __atomic_store_n(&record->started, 1, __ATOMIC_RELEASE);
    ckpt_sys_futex(&record->started, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
    result = record->start(record->argument);
    if (record->tid_word == &record->tid) {
        __atomic_store_n(&record->tid, 0, __ATOMIC_RELEASE);
    }
    return result;
}

typedef int (*create_function_t)(pthread_t *, const pthread_attr_t *,
                                 void *(*)(void *), void *);

static int create(create_function_t next, struct record *record,
                  pthread_t *thread, const pthread_attr_t *attributes,
                  size_t stack_size)
{
    pthread_attr_t own;
    int state, error;

    /* Uses a copy, so that the stack does not appear in the caller's
     * attributes. */
    if (attributes != NULL) {
        own = *attributes;
    } else {
        pthread_attr_init(&own);
    }
    if (stack_size != 0) {
        error = provide_stack(record, stack_size);
        if (error != 0) {
            return error;
        }
        pthread_attr_setstack(&own, record->stack, stack_size);
    }
    pthread_attr_getdetachstate(&own, &state);
    record->detached = state == PTHREAD_CREATE_DETACHED;

    error = next(thread, &own, run, record);
    if (error != 0) {
        return error;
    }
    while (__atomic_load_n(&record->started, __ATOMIC_ACQUIRE) == 0) {
        ckpt_sys_futex(&record->started, FUTEX_WAIT_PRIVATE, 0, NULL);
    }
    return 0;
}

CKPT_EXPORT int pthread_create(pthread_t *thread,
                               const pthread_attr_t *attributes,
                               void *(*start)(void *), void *argument)
{
    create_function_t next = CKPT_NEXT(pthread_create);
    size_t stack_size = size_of_stack(attributes);
    struct ckpt_sigaction action;
    struct record *record;
    uint64_t mask;
    int error = EAGAIN;

    ckpt_change_begin(&mask);
    record = take_record(stack_size);
    if (record != NULL) {
        record->start = start;
        record->argument = argument;
        ckpt_sys_sigaction(SIGSETXID, NULL, &action);
        error = create(next, record, thread, attributes, stack_size);
        ckpt_sys_sigaction(SIGSETXID, &action, NULL);
        if (error != 0) {
            give_record(record);
        }
    }
    ckpt_change_end(&mask);
    return error;
}

/* Notes that the thread's result will not be requested any more. */
static void let_go(pthread_t thread, int joined)
{
    struct record *record;
    uint64_t mask;

    ckpt_change_begin(&mask);
    ckpt_spinlock_take(&lock);
    for (uint32_t i = 0; i < record_count; i++) {
        record = &records[i];
        if (record->place == IN_USE && record->started && !record->joined &&
            !record->detached && pthread_equal(record->thread, thread)) {
            record->joined = joined;
            record->detached = !joined;
        }
    }
    ckpt_spinlock_give(&lock);
    ckpt_change_end(&mask);
}

/* Installs the lower half's handler while one of its threads is cancelled. */
CKPT_EXPORT int pthread_cancel(pthread_t thread)
{
    int (*next)(pthread_t) = CKPT_NEXT(pthread_cancel);
    struct ckpt_sigaction action;
    uint64_t mask;
    int error;

    ckpt_change_begin(&mask);
    ckpt_sys_sigaction(SIGCANCEL, NULL, &action);
    error = next(thread);
    if (!cancel_replaced) {
        cancel_action = action;
        cancel_replaced = 1;
    }
    ckpt_change_end(&mask);
    return error;
}

CKPT_EXPORT int pthread_join(pthread_t thread, void **result)
{
    int (*next)(pthread_t, void **) = CKPT_NEXT(pthread_join);
    int error = next(thread, result);

    if (error == 0) {
        let_go(thread, 1);
    }
    if (cancel_replaced) {
        ckpt_sys_sigaction(SIGCANCEL, &cancel_action, NULL);
        cancel_replaced = 0;
    }
    return error;
}

CKPT_EXPORT int pthread_detach(pthread_t thread)
{
    int error = CKPT_NEXT(pthread_detach)(thread);

    if (error == 0) {
        let_go(thread, 0);
    }
    return error;
}
