/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * background.cpp - threads whose work can wait.
 */
#include "common/background.hpp"

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

} // namespace ckpt
