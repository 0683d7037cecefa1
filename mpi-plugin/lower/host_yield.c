/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_yield.c - who waits in the MPI library lets others work on a checkpoint.
 *
 * Where there are more ranks than processors the library's wait loops call
 * sched_yield(2). To the scheduler such a rank always has something to do, and
 * some kernels (Linux 6.18) hardly let anybody else run beside many of them: the
 * agent, or a rank that is being saved and for which these wait, for minutes. So
 * during a checkpoint they sleep for a moment instead.
 *
 * Context of the exported function: normal (lower half).
 */
#include "config.h"
#include "lower/host_yield.h"

#include "lower/export.h"
#include "sys/syscall.h"

#include <sched.h>
#include <time.h>

#define MOMENT_NS 50000

static const volatile int *armed, *is_open;

void ckpt_host_yield_open(const struct ckpt_lower *table)
{
    armed = table->armed;
    is_open = table->open;
}

static int is_under_way(void)
{
    return (armed != NULL && *armed) || (is_open != NULL && *is_open);
}

CKPT_EXPORT int sched_yield(void)
{
    const struct timespec moment = {0, MOMENT_NS};

    if (is_under_way()) {
        (void)ckpt_syscall3(SYS_nanosleep, (long)&moment, 0, 0);
        return 0;
    }
    return (int)ckpt_libc_result(ckpt_syscall3(SYS_sched_yield, 0, 0, 0));
}
