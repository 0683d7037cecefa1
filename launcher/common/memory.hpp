/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.hpp - how much memory this process may still use, and how to use less.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

namespace ckpt
{

/* Returns the bytes that can be used without swapping and within the limits of this process's
 * control groups. Such a limit may come from a batch system. Returns 0 if the kernel does not
 * say. A group's page cache counts as used, except its inactive part. */
std::uint64_t available_memory();

/* Returns the same for a system with these directories as /proc and /sys/fs/cgroup. */
std::uint64_t available_memory(const std::filesystem::path &proc,
                               const std::filesystem::path &groups);

/* A control group of a process. */
struct ControlGroup {
    std::string controllers;         /* of version 1, separated by commas; "": version 2 */
    std::filesystem::path directory; /* below the mount point; "": the group of all processes */
};

/* Returns the groups of a process, from its /proc/PID/cgroup (cgroups(7)). */
std::vector<ControlGroup> control_groups(std::istream &file);

/* Limits the address space that new threads reserve, if the process's address space is limited
 * (RLIMIT_AS). Such a limit may come from the program beside which this one runs. Call at the
 * start of a program, before it starts threads. */
void spare_address_space();

} // namespace ckpt
