/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * siblings.cpp - the restart programs that the launcher has started on this node.
 */
#include "config.h"
#include "restart/siblings.hpp"

#include "common/error.hpp"
#include "common/processes.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace ckpt::restart
{

namespace
{

namespace fs = std::filesystem;

/* Returns 0 if the name is not a process id. */
pid_t process_of(const std::string &name)
{
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);

    return error == std::errc() && end == name.data() + name.size() ? pid : 0;
}

/* Whether the process lives and runs a program of the directory. A process that may not be looked
 * at counts as one that does. */
bool runs(const fs::path &process, const fs::path &directory)
{
    std::error_code error;
    const fs::path program = fs::read_symlink(process / "exe", error);

    if (error) { /* a zombie has no program */
        return error.value() != ENOENT && error.value() != ESRCH;
    }
    return program.parent_path() == directory;
}

} // namespace

std::size_t count_siblings()
{
    const fs::path directory = fs::read_symlink("/proc/self/exe").parent_path();
    std::size_t count = 0;

    for (const auto &entry : fs::directory_iterator("/proc")) {
        const pid_t pid = process_of(entry.path().filename());
        if (pid > 0 && parent_of(pid) == ::getppid() && runs(entry.path(), directory)) {
            count++;
        }
    }
    return count;
}

SiblingWatch::SiblingWatch(std::size_t expected, std::chrono::milliseconds patience,
                           std::function<std::size_t()> count)
    : expected_(expected), patience_(patience), count_(std::move(count))
{
}

void SiblingWatch::check()
{
    const std::size_t count = count_();

    if (count >= expected_) {
        missing_since_.reset();
    } else if (!missing_since_) {
        missing_since_ = Clock::now();
    } else if (Clock::now() - *missing_since_ > patience_) {
        fail("cannot meet the other ranks of this node: {} of {} run", count, expected_);
    }
}

} // namespace ckpt::restart
