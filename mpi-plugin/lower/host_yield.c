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
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const volatile int *armed, *is_open;
static long moment_ns = CKPT_MOMENT_NS;

/* As the launcher tells: mpirun, Hydra, or Slurm; 0 if it does not. */
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
