/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pidfd.hpp - processes by descriptor. Unlike a process id, a descriptor never refers to another
 * process later.
 */
#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

namespace ckpt
{

/* Returns a descriptor that is readable when the process has ended; empty, with errno, if the
 * process does not exist. Any context. */
Fd open_pidfd(pid_t process);

/* Sends the signal if the process still exists. */
void send_signal(const Fd &pidfd, int signal);

} // namespace ckpt
