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

/* Returns the bytes left to a group, of either cgroup version, and to the groups above it. */
std::uint64_t left_in(const fs::path &root, const fs::path &group, const char *limit_name,
                      const char *usage_name)
{
    std::uint64_t left = no_limit;
    for (fs::path at = group.relative_path();; at = at.parent_path()) {
        const auto limit = number_in(root / at / limit_name);
        const auto usage = number_in(root / at / usage_name);
        if (limit && usage) {
            left = std::min(left, *limit - std::min(*limit, *usage));
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
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == line.npos) {
            continue;
        }
        const std::string kind = line.substr(first + 1, second - first - 1);
        const fs::path group = line.substr(second + 1);
        if (kind.empty()) {
            left = std::min(left, left_in(groups, group, "memory.max", "memory.current"));
        } else if (kind == "memory") {
            left = std::min(left, left_in(groups / kind, group, "memory.limit_in_bytes",
                                          "memory.usage_in_bytes"));
        }
    }
    return left;
}

} // namespace

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
