/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.cpp - memory of the machine, and the limits of control groups.
 */
#include "common/memory.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace fs = std::filesystem;

namespace ckpt
{

namespace
{

/* Stack of a thread where address space is scarce. The launcher's functions need less than a
 * tenth of it. */
constexpr std::size_t small_stack = 1u << 20;

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/* Reads a file with one number; "max" counts as no number. */
std::optional<std::uint64_t> number_in(const fs::path &path)
{
    std::ifstream file(path);
    std::uint64_t number;
    return file >> number ? std::optional(number) : std::nullopt;
}

/* Returns the bytes of page cache that the kernel takes back from a group first. name: of their
 * line in the group's memory.stat. */
std::uint64_t reclaimable_in(const fs::path &group, const std::string &name)
{
    std::ifstream file(group / "memory.stat");
    std::string found;
    for (std::uint64_t value; file >> found >> value;) {
        if (found == name) {
            return value;
        }
    }
    return 0;
}

/* Returns the bytes left to a group, of either cgroup version, and to the groups above it. */
std::uint64_t left_in(const fs::path &root, const fs::path &group, const char *limit_name,
                      const char *usage_name, const char *cache_name)
{
    std::uint64_t left = no_limit;
    for (fs::path at = group;; at = at.parent_path()) {
        const auto limit = number_in(root / at / limit_name);
        const auto usage = number_in(root / at / usage_name);
        if (limit && usage) {
            const std::uint64_t cache = reclaimable_in(root / at, cache_name);
            const std::uint64_t used = *usage - std::min(*usage, cache);
            left = std::min(left, *limit - std::min(*limit, used));
        }
        if (at.empty()) {
            return left;
        }
    }
}

std::uint64_t left_in_groups(const fs::path &proc, const fs::path &groups)
{
    std::uint64_t left = no_limit;
    std::ifstream file(proc / "self/cgroup");
    for (const auto &[controllers, directory] : control_groups(file)) {
        if (controllers.empty()) {
            left = std::min(left, left_in(groups, directory, "memory.max", "memory.current",
                                          "inactive_file"));
        } else if (controllers == "memory") {
            left = std::min(left, left_in(groups / controllers, directory,
                                          "memory.limit_in_bytes", "memory.usage_in_bytes",
                                          "total_inactive_file"));
        }
    }
    return left;
}

} // namespace

std::vector<ControlGroup> control_groups(std::istream &file)
{
    std::vector<ControlGroup> groups;

    for (std::string line; std::getline(file, line);) { /* number:controllers:/directory */
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        const std::string controllers =
            second == line.npos ? "" : line.substr(first + 1, second - first - 1);
        if (second != line.npos && (!controllers.empty() || line.starts_with("0:"))) {
            groups.push_back({controllers, fs::path(line.substr(second + 1)).relative_path()});
        }
    }
    return groups;
}

std::uint64_t available_memory(const fs::path &proc, const fs::path &groups)
{
    std::ifstream file(proc / "meminfo");
    std::string name, unit;
    for (std::uint64_t value; file >> name >> value; std::getline(file, unit)) {
        if (name == "MemAvailable:") {
            return std::min(value * 1024, left_in_groups(proc, groups));
        }
    }
    return 0;
}

std::uint64_t available_memory()
{
    return available_memory("/proc", "/sys/fs/cgroup");
}

/* Otherwise each thread reserves 64 MiB for malloc() and 8 MiB for its stack. */
void spare_address_space()
{
    struct rlimit limit;
    pthread_attr_t attributes;
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return;
    }
    (void)::mallopt(M_ARENA_MAX, 1);
    if (::pthread_attr_init(&attributes) == 0) {
        if (::pthread_attr_setstacksize(&attributes, small_stack) == 0) {
            (void)::pthread_setattr_default_np(&attributes);
        }
        (void)::pthread_attr_destroy(&attributes);
    }
}

} // namespace ckpt
