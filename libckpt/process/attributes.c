/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attributes.c - saves limits, priority, policy, personality and prctl
 * settings.
 */
#include "process/attributes.h"

#include "sys/syscall.h"
#include "process/descriptor_room.h"

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define LIMIT_COUNT RLIM_NLIMITS

/* Settings whose PR_GET_... returns the value, with their PR_SET_... */
static const struct {
    int get;
    int set;
} returned[] = {
    {PR_GET_DUMPABLE, PR_SET_DUMPABLE},
    {PR_GET_KEEPCAPS, PR_SET_KEEPCAPS},
    {PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS},
    {PR_GET_THP_DISABLE, PR_SET_THP_DISABLE},
    {PR_GET_TIMERSLACK, PR_SET_TIMERSLACK},
};

/* Settings whose PR_GET_... writes an int to its argument. */
static const struct {
    int get;
    int set;
} written[] = {
    {PR_GET_PDEATHSIG, PR_SET_PDEATHSIG},
    {PR_GET_CHILD_SUBREAPER, PR_SET_CHILD_SUBREAPER},
};

#define RETURNED (sizeof returned / sizeof returned[0])
#define WRITTEN  (sizeof written / sizeof written[0])

enum {
    NICE,
    POLICY,
    PRIORITY,
    PERSONA,
    FIRST_PRCTL
};
#define VALUE_COUNT (FIRST_PRCTL + RETURNED + WRITTEN)

struct attributes {
    struct rlimit limit[LIMIT_COUNT];
    long value[VALUE_COUNT];
};

static struct attributes start;           /* as set by the launcher */
static struct attributes now;             /* at the checkpoint */
static uint8_t limit_is_own[LIMIT_COUNT]; /* 1: the program has changed it */
static uint8_t value_is_own[VALUE_COUNT];

static void read_all(struct attributes *attributes)
{
    struct sched_param parameters = {0};
    long *value = attributes->value;

    for (int i = 0; i < LIMIT_COUNT; i++) {
        ckpt_syscall3(SYS_getrlimit, i, (long)&attributes->limit[i], 0);
    }
    ckpt_descriptor_room_correct(&attributes->limit[RLIMIT_NOFILE]);
    value[NICE] = 20 - ckpt_syscall3(SYS_getpriority, PRIO_PROCESS, 0, 0);
    value[POLICY] = ckpt_syscall3(SYS_sched_getscheduler, 0, 0, 0);
    ckpt_syscall3(SYS_sched_getparam, 0, (long)&parameters, 0);
    value[PRIORITY] = parameters.sched_priority;
    value[PERSONA] = ckpt_sys_personality(0xffffffff);
    for (size_t i = 0; i < RETURNED; i++) {
        value[FIRST_PRCTL + i] = ckpt_sys_prctl(returned[i].get, 0, 0, 0, 0);
    }
    for (size_t i = 0; i < WRITTEN; i++) {
        int number = 0;

        ckpt_sys_prctl(written[i].get, (unsigned long)&number, 0, 0, 0);
        value[FIRST_PRCTL + RETURNED + i] = number;
    }
}

void ckpt_attributes_open(void)
{
    read_all(&start);
}

void ckpt_attributes_save(void)
{
    read_all(&now);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        limit_is_own[i] |= now.limit[i].rlim_cur != start.limit[i].rlim_cur ||
                           now.limit[i].rlim_max != start.limit[i].rlim_max;
    }
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        value_is_own[i] |= now.value[i] != start.value[i];
    }
}

/* Only a privileged process may raise the hard limit. */
static void set_limit(int resource, struct rlimit wanted, rlim_t highest)
{
    if (ckpt_syscall3(SYS_setrlimit, resource, (long)&wanted, 0) == 0) {
        return;
    }
    if (wanted.rlim_max > highest) {
        wanted.rlim_max = highest;
    }
    if (wanted.rlim_cur > wanted.rlim_max) {
        wanted.rlim_cur = wanted.rlim_max;
    }
    ckpt_syscall3(SYS_setrlimit, resource, (long)&wanted, 0);
}

static void set_scheduling(void)
{
    const struct sched_param parameters = {(int)now.value[PRIORITY]};

    if (value_is_own[POLICY] || value_is_own[PRIORITY]) {
        ckpt_syscall3(SYS_sched_setscheduler, 0, now.value[POLICY],
                      (long)&parameters);
    }
    if (value_is_own[NICE]) {
        ckpt_syscall3(SYS_setpriority, PRIO_PROCESS, 0, now.value[NICE]);
    }
    if (value_is_own[PERSONA]) {
        ckpt_sys_personality((unsigned long)now.value[PERSONA]);
    }
}

void ckpt_attributes_of_launcher(void)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (limit_is_own[i]) {
            set_limit(i, start.limit[i], now.limit[i].rlim_max);
        }
    }
}

void ckpt_attributes_raise(void)
{
    struct rlimit limit;

    read_all(&start); /* now as set by the new launcher */
    for (int i = 0; i < LIMIT_COUNT; i++) {
        limit = start.limit[i];
        if (limit_is_own[i] && now.limit[i].rlim_max > limit.rlim_max) {
            limit.rlim_max = now.limit[i].rlim_max;
            if (ckpt_syscall3(SYS_setrlimit, i, (long)&limit, 0) == 0) {
                start.limit[i] = limit;
            }
        }
    }
    set_scheduling();
}

void ckpt_attributes_restore(void)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (limit_is_own[i]) {
            set_limit(i, now.limit[i], start.limit[i].rlim_max);
        }
    }
    for (size_t i = 0; i < RETURNED + WRITTEN; i++) {
        const int set = i < RETURNED ? returned[i].set
                                     : written[i - RETURNED].set;

        if (value_is_own[FIRST_PRCTL + i]) {
            ckpt_sys_prctl(set, (unsigned long)now.value[FIRST_PRCTL + i], 0, 0,
                           0);
        }
    }
}
