/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * background.cpp - scheduling of threads whose work is not urgent.
 */
#include "common/background.hpp"

#include <linux/sched/types.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ckpt
{

void step_back()
{
    constexpr int who_process = 1, class_idle = 3 << 13; /* from linux/ioprio.h */

    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
    (void)::syscall(SYS_ioprio_set, who_process, 0, class_idle);
}

void run_in_short_slices()
{
    sched_attr wanted{};
    wanted.size = SCHED_ATTR_SIZE_VER0;
    if (::syscall(SYS_sched_getattr, 0, &wanted, SCHED_ATTR_SIZE_VER0, 0) == 0) {
        wanted.sched_runtime = 100'000; /* ns, the minimum */
        (void)::syscall(SYS_sched_setattr, 0, &wanted, 0);
    }
}

} // namespace ckpt
