/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * levels.cpp - parses --levels.
 */
#include "cli/base/levels.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "redundancy/scheme.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <set>
#include <vector>

namespace ckpt::cli
{

namespace
{

struct Level {
    std::string name, when;
};

std::vector<Level> split(const std::string &text)
{
    std::vector<Level> levels;

    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, end - at);
        const std::size_t colon = std::min(part.find(':'), part.size());
        levels.push_back({part.substr(0, colon),
                          colon < part.size() ? part.substr(colon + 1) : "every"});
        at = end + 1;
    }
    CKPT_INVARIANT(!levels.empty());
    return levels;
}

std::filesystem::path own_directory(const char *parent)
{
    return fmt::format("{}/ckpt-{}", parent, ::getuid());
}

/* At most one level of each kind is allowed. */
std::string kind_of(const std::string &name)
{
    return name == "memory" || name == "local" ? "nodes"
           : name == "disk"                    ? "disk"
                                               : "redundancy";
}

void require_every(const Level &level)
{
    if (level.when != "every") {
        fail("{}: each checkpoint on the nodes is kept until a newer one is kept",
             level.name);
    }
}

} // namespace

Levels Levels::parse(const std::string &text)
{
    Levels levels;
    std::set<std::string> kinds;

    for (const Level &level : split(text)) {
        const std::string kind = kind_of(level.name);
        if (!kinds.insert(kind).second) {
            fail("{}: there is another level like it", level.name);
        }
        if (kind == "disk") {
            levels.disk = level.when == "every" ? std::chrono::nanoseconds(0)
                                                : parse_duration(level.when);
            continue;
        }
        require_every(level);
        if (kind == "nodes") {
            levels.on_nodes = own_directory(level.name == "memory" ? "/dev/shm" : "/var/tmp");
        } else {
            levels.redundancy = redundancy::Scheme::parse(level.name).text();
        }
    }
    if (!kinds.contains("nodes")) {
        fail("the first level is memory or local: a directory of each node");
    }
    if (!kinds.contains("disk")) {
        fail("a level disk is missing. The directory that all nodes see has the record of what "
             "lies on which node, and a job that leaves its nodes (ckpt swap, --kill, a warning) "
             "can only go on from there. For few copies give a long time: disk:24h");
    }
    return levels;
}

} // namespace ckpt::cli
