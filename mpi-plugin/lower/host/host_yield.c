/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_yield.c - a rank that waits in the MPI library leaves processors to the
 * checkpoint.
 *
 * If there are more ranks than processors the library's wait loops call
 * sched_yield(2). To the scheduler such a rank is always runnable. Beside many
 * of them some kernels (Linux 6.18) hardly run other tasks: the agent, or the
 * rank being saved for which these wait, may not run for minutes. So during a
 * checkpoint the waiting ranks sleep briefly instead.
 *
 * Context of the exported function: normal (lower half).
 */
#include "config.h"
#include "lower/host/host_yield.h"

#include "base/invariant.h"
#include "lower/host/export.h"
#include "sys/syscall.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const volatile int *armed, *is_open;
static long moment_ns = CKPT_MOMENT_NS;

/* Returns the number of ranks on this node, as mpirun, Hydra or Slurm reports
 * it, else 0. */
static long ranks_of_this_node(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "MPI_LOCALNRANKS",
                                        "SLURM_NTASKS_PER_NODE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);

        if (text != NULL && atol(text) > 0) {
            return atol(text);
        }
    }
    return 0;
}

void ckpt_host_yield_open(const struct ckpt_lower *table)
{
    armed = table->armed;
    is_open = table->open;
    moment_ns = ckpt_host_yield_moment(ranks_of_this_node(),
                                       sysconf(_SC_NPROCESSORS_ONLN));
    CKPT_INVARIANT(moment_ns >= CKPT_MOMENT_NS && moment_ns <= CKPT_LONGEST_MOMENT_NS);
}

static int is_under_way(void)
{
    return (armed != NULL && *armed) || (is_open != NULL && *is_open);
}

CKPT_EXPORT int sched_yield(void)
{
    const struct timespec moment = {0, moment_ns};

    if (is_under_way()) {
        (void)ckpt_syscall3(SYS_nanosleep, (long)&moment, 0, 0);
        return 0;
    }
    return (int)ckpt_libc_result(ckpt_syscall3(SYS_sched_yield, 0, 0, 0));
}
