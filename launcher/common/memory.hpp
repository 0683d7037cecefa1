/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.hpp - how much memory this process may still use, and how to use less.
 */
#pragma once

#include <cstdint>
#include <filesystem>

namespace ckpt
{

/* Returns the bytes that can be used without swapping and within the limits of this process's
 * control groups. Such a limit may come from a batch system. Returns 0 if the kernel does not
 * say. A group's page cache counts as used. */
std::uint64_t available_memory();

/* Returns the same for a system with these directories as /proc and /sys/fs/cgroup. */
std::uint64_t available_memory(const std::filesystem::path &proc,
                               const std::filesystem::path &groups);

/* Limits the address space that new threads reserve, if the process's address space is limited
 * (RLIMIT_AS). Such a limit may come from the program beside which this one runs. Call at the
 * start of a program, before it starts threads. */
void spare_address_space();

} // namespace ckpt
