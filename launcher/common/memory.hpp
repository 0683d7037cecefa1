/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.hpp - how much memory this process may still use, and how it uses less.
 */
#pragma once

#include <cstdint>
#include <filesystem>

namespace ckpt
{

/* Bytes that can be used without swapping, and without going beyond what the control groups
 * of this process may have (a batch system's limit of a job); 0 if the kernel does not
 * tell. What a group has in the page cache counts as used. */
std::uint64_t available_memory();

/* The same for a system whose /proc and /sys/fs/cgroup are there. */
std::uint64_t available_memory(const std::filesystem::path &proc,
                               const std::filesystem::path &groups);

/* Where the address space is limited (RLIMIT_AS), as for the program beside which this one
 * runs: new threads take little of it. For the start of a program, before it has any. */
void spare_address_space();

} // namespace ckpt
