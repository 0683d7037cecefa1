/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processes.cpp - what is known of a process from its id.
 */
#include "common/processes.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

namespace ckpt
{

namespace
{

struct Stat {
    char state = 'X';
    int parent = 0;
};

/* From /proc/PID/stat: "pid (name) state parent ..."; the name may hold
 * anything. */
Stat stat_of(std::int64_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(file, text);
    std::size_t end = text.rfind(')');
    Stat stat;
    if (end == text.npos ||
        !(std::istringstream(text.substr(end + 1)) >> stat.state >>
          stat.parent)) {
        return {};
    }
    return stat;
}

} // namespace

bool is_running(std::int64_t pid)
{
    char state = stat_of(pid).state;
    return state != 'Z' && state != 'X';
}

int parent_of(std::int64_t pid)
{
    return stat_of(pid).parent;
}

} // namespace ckpt
