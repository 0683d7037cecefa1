/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_ids.c - maps the thread ids that glibc remembers to the kernel's.
 *
 * glibc stores each thread's kernel id in its struct pthread, in the word that the kernel
 * clears when the thread ends. A restart gives a thread a new kernel id, but deliberately
 * leaves the remembered id unchanged. A recursive, error-checking or robust mutex that is
 * locked at the cut contains that number as its owner. The mutex can be anywhere in memory, and
 * its owner must unlock it later. So within its process a thread keeps one id for life.
 *
 * When glibc passes the number to the kernel, the stand-in's interposers (pthread_kill,
 * pthread_setaffinity_np ...) translate it with this table. The kernel id of a new thread may
 * equal the remembered id of an older thread. The new thread would then be taken for the owner
 * of the older thread's locks. So it gets another remembered id, which no kernel assigns.
 *
 * Limits, after a restart, for threads from before it: if the owner of a robust mutex ends,
 * this library releases the mutex (robust.c), but not if the process ends. A
 * priority-inheriting mutex that was locked at the cut is not released, and cannot be handed
 * over. glibc's set*id() does not reach the thread. gettid() returns the remembered id, too.
 * libc's functions that take a thread id translate it (interpose/process_id.c), and so does
 * syscall(); system calls made in another way do not.
 */
#include "task/threads.h"

#include "base/invariant.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/parking.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* The leader, the parked threads, and as many renamed ones. */
#define CAPACITY (2 * CKPT_PARKING_CAPACITY)

/* Above all kernel thread ids (2^22), below the bits of a futex word with another meaning
 * (2^30). */
#define FIRST_INVENTED_ID (1 << 24)

struct identity {
    uintptr_t thread_pointer; /* the pthread_t */
    int32_t *tid_word;
    int32_t remembered;
    int32_t kernel_tid;
    int32_t former_tid; /* the kernel's id at the checkpoint */
};

/* Entries of ended threads stay until the next restart: a pthread_t is valid only while its
 * word holds the remembered id. A process that was never restarted has no table, which would be
 * part of each image. */
static struct identity *identities; /* [CAPACITY] */
static uint32_t count;
static uint32_t lock;
static int32_t next_invented = FIRST_INVENTED_ID;

/* No thread parks or runs a handler while it holds the lock. */
static uint64_t take_lock(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask;

    ckpt_sys_sigprocmask(SIG_SETMASK, &all, &mask);
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0) {
        __builtin_ia32_pause();
    }
    return mask;
}

static void give_lock(uint64_t mask)
{
    CKPT_INVARIANT(lock == 1); /* ours */
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void note(uintptr_t thread_pointer, int32_t *tid_word, int kernel_tid,
                 int former_tid)
{
    CKPT_INVARIANT(identities != NULL && count <= CAPACITY);
    if (count < CAPACITY) {
        identities[count] = (struct identity){
            .thread_pointer = thread_pointer,
            .tid_word = tid_word,
            .remembered = *tid_word,
            .kernel_tid = kernel_tid,
            .former_tid = former_tid,
        };
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
}

int ckpt_thread_ids_clear(void)
{
    long memory;

    count = 0;
    if (identities != NULL) {
        return 0;
    }
    memory = ckpt_sys_mmap(NULL, CAPACITY * sizeof(*identities), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ckpt_sys_failed(memory)) {
        return (int)memory;
    }
    identities = (struct identity *)memory;
    return 0;
}

void ckpt_thread_ids_note(const struct ckpt_thread *thread, int kernel_tid)
{
    int32_t *tid_word = (int32_t *)thread->clear_child_tid;

    if (tid_word != NULL && *tid_word != 0) {
        note(thread->thread_pointer, tid_word, kernel_tid, thread->tid);
    }
}

int ckpt_threads_kernel_tid(uintptr_t thread, int32_t **tid_word_p)
{
    uint32_t entries = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

    while (entries > 0) {
        const struct identity *identity = &identities[--entries];

        if (identity->thread_pointer == thread &&
            *(volatile int32_t *)identity->tid_word == identity->remembered) {
            if (tid_word_p != NULL) {
                *tid_word_p = identity->tid_word;
            }
            return identity->kernel_tid;
        }
    }
    return 0;
}

int ckpt_threads_renumbered(int former_tid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (identities[i].former_tid == former_tid) {
            return identities[i].kernel_tid;
        }
    }
    return -ESRCH;
}

int ckpt_threads_remembered(int id)
{
    const uint32_t entries = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < entries; i++) {
        if (identities[i].remembered == id) {
            const int tid = __atomic_load_n(&identities[i].kernel_tid, __ATOMIC_RELAXED);

            return tid != 0 ? tid : -ESRCH;
        }
    }
    return -ESRCH;
}

int ckpt_threads_remembered_of(int kernel_tid)
{
    const uint32_t entries = __atomic_load_n(&count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < entries; i++) {
        if (__atomic_load_n(&identities[i].kernel_tid, __ATOMIC_RELAXED) == kernel_tid) {
            return identities[i].remembered;
        }
    }
    return kernel_tid;
}

/* The kernel reuses the id of an ended thread for a new one. */
static void forget_ended(int kernel_tid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (identities[i].kernel_tid == kernel_tid) {
            __atomic_store_n(&identities[i].kernel_tid, 0, __ATOMIC_RELAXED);
        }
    }
}

static int is_remembered(int tid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (identities[i].remembered == tid) {
            return 1;
        }
    }
    return 0;
}

void ckpt_threads_register_self(void)
{
    int32_t *tid_word = NULL;
    uint64_t mask;
    int tid;

    if (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0) {
        return; /* never restarted: all ids are the kernel's */
    }
    mask = take_lock();
    tid = ckpt_sys_gettid();
    forget_ended(tid);
    ckpt_sys_prctl(PR_GET_TID_ADDRESS, (unsigned long)&tid_word, 0, 0, 0);
    if (tid_word != NULL && is_remembered(tid)) {
        CKPT_INVARIANT(next_invented >= FIRST_INVENTED_ID && next_invented < 1 << 30);
        *tid_word = next_invented++;
        note(ckpt_thread_pointer_get(), tid_word, tid, 0);
    }
    give_lock(mask);
}
