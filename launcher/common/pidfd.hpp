/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pidfd.hpp - processes by descriptor, which never is another process as an id may be.
 */
#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

namespace ckpt
{

/* Readable when the process has ended. Empty, with errno, if there is none. Any context. */
Fd open_pidfd(pid_t process);

/* To a process that is there still, or to nobody. */
void send_signal(const Fd &pidfd, int signal);

} // namespace ckpt
