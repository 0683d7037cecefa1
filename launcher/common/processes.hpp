/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processes.hpp - what is known of a process from its id.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace ckpt
{

/* True while there is such a process on this node, of whatever user, that has
 * not ended: one that only waits to be reaped does not count. */
bool is_running(std::int64_t pid);

/* True for one that a signal has stopped (not a debugger). */
bool is_stopped(std::int64_t pid);

/* Seconds of processor time that this process has had, all threads together. */
double process_cpu_seconds();

/* Process id of its parent; 0 if it has none or is gone. */
int parent_of(std::int64_t pid);

/* Its name, as the kernel cuts it; empty if it is gone. */
std::string process_name(std::int64_t pid);

/* Process id and time of its start, "%010d-%020lu": no other process of this host
 * ever has the same. Empty if there is no such process. */
std::string process_identity(std::int64_t pid);

struct ProcessName {
    std::string pid;
    std::string name; /* as the kernel cuts it */
};

/* A process of which a descriptor leads to `target`, as /proc names what has no
 * path ("socket:[1]"); but for those in `except`. Only of those whose descriptors
 * we may see. */
std::optional<ProcessName> holder_of(const std::string &target,
                                     const std::set<std::int64_t> &except = {});

} // namespace ckpt
