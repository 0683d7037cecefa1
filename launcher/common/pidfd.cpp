/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pidfd.cpp - processes by descriptor, with system calls.
 */
#include "common/pidfd.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace ckpt
{

Fd open_pidfd(pid_t process)
{
    return Fd(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

void send_signal(const Fd &pidfd, int signal)
{
    (void)syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

} // namespace ckpt
