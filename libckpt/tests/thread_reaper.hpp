/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_reaper.hpp - ends single threads of a child process. Afterwards they
 * are in the state that a restart finds: the memory unchanged, the kernel's
 * thread gone.
 */
#ifndef CKPT_THREAD_REAPER_HPP
#define CKPT_THREAD_REAPER_HPP

#include <string>
#include <sys/types.h>
#include <vector>

/*
 * Makes each thread exit by itself, with ptrace, without writing to the
 * process's memory (the kernel is first told to clear no tid and to walk no
 * robust list). The threads must wait in a system call. The caller must be the
 * parent. Returns "" or an error text.
 */
std::string reap_threads(const std::vector<pid_t> &tids);

#endif
