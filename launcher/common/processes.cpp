/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processes.cpp - information about a process, by its id.
 */
#include "common/processes.hpp"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

struct Stat {
    char state = 'X';
    int parent = 0;
    std::uint64_t start = 0; /* clock ticks since boot */
};

constexpr int fields_between = 17; /* between parent and start, fields 4 and 22 of proc(5) */

/* Reads /proc/PID/stat: "pid (name) state parent ..."; the name may contain
 * any characters. */
Stat stat_of(std::int64_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(file, text);
    std::size_t end = text.rfind(')');
    if (end == text.npos) {
        return {};
    }
    Stat stat;
    std::istringstream fields(text.substr(end + 1));
    fields >> stat.state >> stat.parent;
    std::string skipped;
    for (int i = 0; i < fields_between; i++) {
        fields >> skipped;
    }
    fields >> stat.start;
    return fields ? stat : Stat{};
}

} // namespace

bool is_running(std::int64_t pid)
{
    char state = stat_of(pid).state;
    return state != 'Z' && state != 'X';
}

bool is_stopped(std::int64_t pid)
{
    return stat_of(pid).state == 'T';
}

double process_cpu_seconds()
{
    timespec time{};

    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int parent_of(std::int64_t pid)
{
    return stat_of(pid).parent;
}

std::string process_name(std::int64_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string name;
    std::getline(file, name);
    return name;
}

std::string process_identity(std::int64_t pid)
{
    Stat stat = stat_of(pid);
    return stat.start == 0 ? "" : fmt::format("{:010}-{:020}", pid, stat.start);
}

std::vector<std::int64_t> process_ids()
{
    std::vector<std::int64_t> found;
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (name.find_first_not_of("0123456789") == name.npos) {
            found.push_back(std::stoll(name));
        }
    }
    return found;
}

std::vector<fs::path> descriptors_of(std::int64_t pid, std::error_code *error)
{
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(fmt::format("/proc/{}/fd", pid), *error), end;
         !*error && entry != end; entry.increment(*error)) {
        found.push_back(entry->path());
    }
    return found;
}

int exit_code_of(int status)
{
    constexpr int signal_code = 128;

    return WIFSIGNALED(status) ? signal_code + WTERMSIG(status) : WEXITSTATUS(status);
}

std::optional<ProcessName> holder_of(const std::string &target,
                                     const std::set<std::int64_t> &except)
{
    std::error_code error;
    for (const std::int64_t pid : process_ids()) {
        if (except.contains(pid)) {
            continue;
        }
        for (const fs::path &descriptor : descriptors_of(pid, &error)) {
            if (fs::read_symlink(descriptor, error) == target) {
                return ProcessName{std::to_string(pid), process_name(pid)};
            }
        }
    }
    return std::nullopt;
}

} // namespace ckpt
