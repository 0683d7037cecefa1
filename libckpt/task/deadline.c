/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadline.c - implements deadline.h.
 */
#include "task/deadline.h"

#include "sys/thread_pointer.h"
#include "task/program_clock.h"
#include "task/threads.h"

#include <stddef.h>

/* One per thread. A call that ends by a jump or by cancellation leaves a
 * deadline that is harmless at a restart. */
static __thread struct ckpt_deadline deadline
    __attribute__((tls_model("initial-exec")));

static void translate(struct ckpt_deadline *slot)
{
    uint32_t restarts;

    if (!slot->is_set) {
        return;
    }
    do { /* repeat if a restart came between */
        restarts = ckpt_clock_restarts();
        slot->kernel = ckpt_clock_to_kernel(slot->clock, &slot->program);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (restarts != ckpt_clock_restarts());
}

static int counts_from_boot(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
           clock == CLOCK_BOOTTIME_ALARM;
}

const struct timespec *ckpt_deadline_begin(clockid_t clock,
                                           const struct timespec *time,
                                           struct ckpt_deadline *before)
{
    *before = deadline;
    if (time == NULL || !counts_from_boot(clock)) {
        return time;
    }
    deadline.is_set = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    deadline.clock = clock;
    deadline.program = *time;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    deadline.is_set = 1;
    translate(&deadline);
    return &deadline.kernel;
}

void ckpt_deadline_end(const struct ckpt_deadline *before)
{
    deadline = *before;
    translate(&deadline);
}

/* Returns the deadline of the thread with this thread pointer. */
static struct ckpt_deadline *of_thread(uintptr_t thread_pointer)
{
    const uintptr_t place = (uintptr_t)&deadline - ckpt_thread_pointer_get();

    return (struct ckpt_deadline *)(thread_pointer + place);
}

void ckpt_deadlines_restarted(void)
{
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);

    translate(&deadline);
    for (size_t i = 0; i < count; i++) {
        translate(of_thread(threads[i].thread_pointer));
    }
}

int ckpt_deadline_is_here(const void *time, uintptr_t thread_pointer)
{
    return time == &of_thread(thread_pointer)->kernel;
}
