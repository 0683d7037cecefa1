/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recreate.c - creates kernel threads for the saved threads, after a restart.
 *
 * All user-side state of a parked thread is in saved memory. A new kernel
 * thread with the same thread pointer needs only its kernel-side state: the
 * address of the thread id to clear at exit, the robust list, the rseq area,
 * the name. Then rt_sigreturn on the saved frame restores registers, signal
 * mask and alternate stack. Until the thaw the thread waits on a small stack of
 * ours, since it must not touch its own stack earlier.
 */
#include "task/threads.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/handler_stack.h"
#include "task/memory_policy.h"
#include "task/parking.h"
#include "task/thread_attributes.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define SCRATCH_STACK_SIZE 8192ul
#define RSEQ_SIGNATURE     0x53053053u /* glibc's, on x86-64 */
#define RSEQ_MINIMUM_SIZE  32u         /* as in the first version of the call */

/* glibc 2.35 and later: offset of a thread's rseq area from its thread pointer,
 * and the size of the area; size 0: not registered. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

struct rseq_area { /* the first fields of the kernel's struct rseq */
    uint32_t cpu_id_start;
    int32_t cpu_id; /* negative: not registered */
};
#define RSEQ_NOT_REGISTERED (-2) /* glibc writes this if the registration \
                                    fails */

static struct ckpt_thread leader;
static volatile uint32_t born; /* number of running new threads; futex of the
                                  leader */
static char *scratch;          /* stacks, one per thread */
static size_t scratch_size;

static void read_rseq(struct ckpt_thread *thread)
{
    struct rseq_area *area;

    thread->rseq = 0;
    thread->rseq_size = 0;
    thread->rseq_signature = 0;
    if (&__rseq_size == NULL || __rseq_size == 0) {
        return;
    }
    area = (struct rseq_area *)(thread->thread_pointer + __rseq_offset);
    if (area->cpu_id < 0) {
        return;
    }
    thread->rseq = (uintptr_t)area;
    thread->rseq_size =
        __rseq_size < RSEQ_MINIMUM_SIZE ? RSEQ_MINIMUM_SIZE : __rseq_size;
    thread->rseq_signature = RSEQ_SIGNATURE;
}

void ckpt_registrations_read(struct ckpt_thread *thread)
{
    void *address = NULL;
    void *robust_list = NULL;
    size_t robust_list_size = 0;

    ckpt_sys_prctl(PR_GET_TID_ADDRESS, (unsigned long)&address, 0, 0, 0);
    ckpt_sys_get_robust_list(0, &robust_list, &robust_list_size);
    thread->thread_pointer = ckpt_thread_pointer_get();
    thread->clear_child_tid = (uintptr_t)address;
    thread->robust_list = (uintptr_t)robust_list;
    thread->robust_list_size = robust_list_size;
    read_rseq(thread);
    thread->reserved = 0;
    ckpt_sys_prctl(PR_GET_NAME, (unsigned long)thread->name, 0, 0, 0);
    /* Last: a thread that sees the tid can read the other fields. */
    __atomic_store_n(&thread->tid, ckpt_sys_gettid(), __ATOMIC_RELEASE);
}

void ckpt_registrations_write(const struct ckpt_thread *thread)
{
    ckpt_sys_set_robust_list((void *)thread->robust_list,
                             thread->robust_list_size);
    if (thread->rseq != 0) {
        long status = ckpt_sys_rseq((void *)thread->rseq, thread->rseq_size, 0,
                                    thread->rseq_signature);

        /* EBUSY: this area is already registered. After another error the field
         * must not keep a stale number; its readers then ask the kernel. */
        if (status != 0 && status != -EBUSY) {
            ((struct rseq_area *)thread->rseq)->cpu_id = RSEQ_NOT_REGISTERED;
        }
    }
    ckpt_sys_prctl(PR_SET_NAME, (unsigned long)thread->name, 0, 0, 0);
}

void ckpt_threads_record_leader(void)
{
    ckpt_registrations_read(&leader);
}

void ckpt_threads_repair_leader(void)
{
    ckpt_sys_set_tid_address((void *)leader.clear_child_tid);
    ckpt_registrations_write(&leader);
}

void ckpt_threads_rename_leader(const char *name, char former[16])
{
    if (former != NULL) {
        ckpt_text_copy(former, sizeof(leader.name), leader.name);
    }
    ckpt_text_copy(leader.name, sizeof(leader.name), name);
    ckpt_sys_prctl(PR_SET_NAME, (unsigned long)leader.name, 0, 0, 0);
}

/* The body of a new thread, with all signals blocked. */
static __attribute__((noreturn)) void begin(const void *argument)
{
    const struct ckpt_thread *thread = argument;
    void *context = (void *)thread->context;
    uint32_t generation = ckpt_parking.thaw;

    CKPT_INVARIANT(thread >= ckpt_parking.thread &&
                   thread < ckpt_parking.thread + CKPT_PARKING_CAPACITY);
    ckpt_registrations_write(thread);
    ckpt_thread_attributes_write((size_t)(thread - ckpt_parking.thread));
    ckpt_memory_policy_write((size_t)(thread - ckpt_parking.thread));
    __atomic_fetch_add(&born, 1, __ATOMIC_RELEASE);
    ckpt_sys_futex(&born, FUTEX_WAKE_PRIVATE, 1, NULL);
    ckpt_parking_wait(generation);
    /* From here on the table may change. */
    ckpt_context_sigreturn(context);
}

/* Maps memory for the stacks. It is kept and reused at the next restart. */
static int map_scratch(size_t count)
{
    size_t size = count * SCRATCH_STACK_SIZE;
    long memory;

    CKPT_INVARIANT(count <= CKPT_PARKING_CAPACITY);
    if (size <= scratch_size) {
        return 0;
    }
    memory = ckpt_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ckpt_sys_failed(memory)) {
        return (int)memory;
    }
    scratch = (char *)memory;
    scratch_size = size;
    return 0;
}

static long make_thread(const struct ckpt_thread *thread, size_t index)
{
    const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES |
                                CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                CLONE_SETTLS | CLONE_CHILD_CLEARTID;

    CKPT_INVARIANT((index + 1) * SCRATCH_STACK_SIZE <= scratch_size);
    return ckpt_context_clone(flags, scratch + (index + 1) * SCRATCH_STACK_SIZE,
                              (void *)thread->clear_child_tid,
                              (void *)thread->thread_pointer, begin, thread);
}

int ckpt_threads_recreate(struct ckpt_failure *failure)
{
    const uint64_t all = ~UINT64_C(0);
    const struct ckpt_thread *threads;
    size_t count = ckpt_threads_list(&threads);
    uint32_t ready;
    int status;

    ckpt_sys_sigprocmask(SIG_SETMASK, &all, NULL); /* the thaw restores the
                                                      mask */
    ckpt_threads_repair_leader();
    leader.tid = ckpt_parking.leader; /* loading the lower half has changed
                                         it */
    ckpt_parking.leader = ckpt_sys_gettid();
    status = ckpt_thread_ids_clear();
    if (status != 0) {
        return ckpt_fail(failure, status, "no memory for the ids of threads");
    }
    ckpt_thread_ids_note(&leader, ckpt_parking.leader);
    ckpt_handler_stacks_left(CKPT_HANDLER_PARKS);
    status = map_scratch(count);
    if (status != 0) {
        return ckpt_fail(failure, status, "no memory for %u thread stacks",
                         (unsigned)count);
    }
    born = 0;
    for (size_t i = 0; i < count; i++) {
        long tid = make_thread(&threads[i], i);

        if (tid < 0) {
            return ckpt_fail(failure, (int)tid,
                             "cannot make thread %u of %u (%s): error %d",
                             (unsigned)i + 1, (unsigned)count, threads[i].name,
                             (int)-tid);
        }
        ckpt_thread_ids_note(&threads[i], (int)tid);
    }
    while ((ready = __atomic_load_n(&born, __ATOMIC_ACQUIRE)) < count) {
        ckpt_sys_futex(&born, FUTEX_WAIT_PRIVATE, ready, NULL);
    }
    CKPT_INVARIANT(ready == count);
    return 0;
}
