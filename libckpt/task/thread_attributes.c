/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_attributes.c - saves processors, priority and policy of each thread.
 */
#include "task/thread_attributes.h"

#include "base/invariant.h"
#include "sys/syscall.h"
#include "task/parking.h"
#include "task/threads.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MASK_WORDS 64 /* for 4096 processors */

struct attributes {
    uint64_t processors[MASK_WORDS];
    int32_t policy, priority, nice;
    int32_t reserved; /* 0: the structures are compared as bytes */
};

static struct attributes start; /* as set by the launcher */
static struct attributes leader;
static struct attributes *parked; /* [CKPT_PARKING_CAPACITY] */

/* Reads the attributes of a thread; tid 0: of the calling thread. */
static void read_attributes(int tid, struct attributes *attributes)
{
    struct sched_param parameters = {0};

    memset(attributes, 0, sizeof(*attributes));
    (void)ckpt_syscall3(SYS_sched_getaffinity, tid, sizeof(attributes->processors),
                        (long)attributes->processors);
    attributes->policy = (int32_t)ckpt_syscall3(SYS_sched_getscheduler, tid, 0, 0);
    (void)ckpt_syscall3(SYS_sched_getparam, tid, (long)&parameters, 0);
    attributes->priority = parameters.sched_priority;
    attributes->nice = (int32_t)(20 - ckpt_syscall3(SYS_getpriority, PRIO_PROCESS, tid, 0));
}

void ckpt_thread_attributes_open(void)
{
    read_attributes(0, &start);
}

static int map_table(void)
{
    long memory;

    if (parked != NULL) {
        return 0;
    }
    memory = ckpt_sys_mmap(NULL, CKPT_PARKING_CAPACITY * sizeof(*parked),
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ckpt_sys_failed(memory)) {
        return (int)memory;
    }
    parked = (struct attributes *)memory;
    return 0;
}

int ckpt_thread_attributes_save(struct ckpt_failure *failure)
{
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);
    const int error = map_table();

    if (error != 0) {
        return ckpt_fail(failure, error, "no memory for the attributes of threads");
    }
    CKPT_INVARIANT(count <= CKPT_PARKING_CAPACITY);
    read_attributes(0, &leader);
    for (size_t i = 0; i < count; i++) {
        read_attributes(threads[i].tid, &parked[i]);
    }
    return 0;
}

static int same_processors(const struct attributes *one, const struct attributes *other)
{
    return memcmp(one->processors, other->processors, sizeof(one->processors)) == 0;
}

/* Sets the attributes that differ. If the host lacks these processors, the thread keeps
 * its present ones. */
static void change(const struct attributes *from, const struct attributes *to)
{
    const struct sched_param parameters = {to->priority};

    if (!same_processors(from, to)) {
        (void)ckpt_syscall3(SYS_sched_setaffinity, 0, sizeof(to->processors),
                            (long)to->processors);
    }
    if (from->policy != to->policy || from->priority != to->priority) {
        (void)ckpt_syscall3(SYS_sched_setscheduler, 0, to->policy, (long)&parameters);
    }
    if (from->nice != to->nice) {
        (void)ckpt_syscall3(SYS_setpriority, PRIO_PROCESS, 0, to->nice);
    }
}

static int are_among(const struct attributes *some, const struct attributes *all)
{
    for (int i = 0; i < MASK_WORDS; i++) {
        if ((some->processors[i] & ~all->processors[i]) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Returns 1 if a thread gets the new launcher's processors. It keeps its own only if they are
 * among those, or were not among the old launcher's. */
static int is_for_launcher(const struct attributes *saved, const struct attributes *former)
{
    return same_processors(saved, former) ||
           (are_among(saved, former) && !are_among(saved, &start));
}

/* Replaces the values that equal the old launcher's by the new launcher's. */
static struct attributes translated(const struct attributes *saved,
                                    const struct attributes *former)
{
    struct attributes wanted = *saved;

    if (is_for_launcher(saved, former)) {
        memcpy(wanted.processors, start.processors, sizeof(wanted.processors));
    }
    if (saved->policy == former->policy && saved->priority == former->priority) {
        wanted.policy = start.policy;
        wanted.priority = start.priority;
    }
    if (saved->nice == former->nice) {
        wanted.nice = start.nice;
    }
    return wanted;
}

void ckpt_thread_attributes_restore(void)
{
    const struct attributes former = start;
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);

    if (parked == NULL) {
        return;
    }
    CKPT_INVARIANT(count <= CKPT_PARKING_CAPACITY);
    read_attributes(0, &start); /* now as set by the new launcher */
    leader = translated(&leader, &former);
    for (size_t i = 0; i < count; i++) {
        parked[i] = translated(&parked[i], &former);
    }
    change(&start, &leader);
}

void ckpt_thread_attributes_write(size_t place)
{
    if (parked != NULL) {
        CKPT_INVARIANT(place < CKPT_PARKING_CAPACITY);
        change(&leader, &parked[place]);
    }
}
