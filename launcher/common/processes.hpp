/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processes.hpp - information about a process, by its id.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace ckpt
{

/* Returns whether the process exists on this node, for any user, and has not
 * ended. A process that only waits to be reaped does not count. */
bool is_running(std::int64_t pid);

/* Returns whether a signal (not a debugger) has stopped the process. */
bool is_stopped(std::int64_t pid);

/* Processor time of this process in seconds, for all threads together. */
double process_cpu_seconds();

/* Returns the parent's process id; 0 if there is none or the process is gone. */
int parent_of(std::int64_t pid);

/* Returns the name, truncated by the kernel; "" if the process is gone. */
std::string process_name(std::int64_t pid);

/* Returns process id and start time, "%010d-%020lu", which no other process of this host ever
 * shares; "" if the process does not exist. */
std::string process_identity(std::int64_t pid);

/* Returns the ids of all processes that /proc shows; none if it cannot be read. */
std::vector<std::int64_t> process_ids();

/* Returns the paths of the process's open descriptors, "/proc/PID/fd/N". If the process ends
 * meanwhile there are fewer of them, and *error says so; it is clear otherwise. */
std::vector<std::filesystem::path> descriptors_of(std::int64_t pid, std::error_code *error);

/* Returns the code that a shell gives for a status of wait(2): 128 + signal. */
int exit_code_of(int status);

struct ProcessName {
    std::string pid;
    std::string name; /* truncated by the kernel */
};

/* Returns a process with a descriptor to `target`, in the form of /proc for objects without a
 * path ("socket:[1]"). Ignores the processes in `except`, and those whose descriptors this user
 * may not see. */
std::optional<ProcessName> holder_of(const std::string &target,
                                     const std::set<std::int64_t> &except = {});

} // namespace ckpt
