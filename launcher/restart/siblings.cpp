/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * siblings.cpp - the restart programs that the launcher has started on this node.
 */
#include "config.h"
#include "restart/siblings.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ckpt::restart
{

namespace
{

namespace fs = std::filesystem;

/* Whether the process lives and runs a program of the directory. A process that may not be looked
 * at counts as one that does. */
bool runs(std::int64_t process, const fs::path &directory)
{
    std::error_code error;
    const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", process), error);

    if (error) { /* a zombie has no program */
        return error.value() != ENOENT && error.value() != ESRCH;
    }
    return program.parent_path() == directory;
}

} // namespace

std::size_t count_siblings()
{
    const fs::path directory = fs::read_symlink("/proc/self/exe").parent_path();
    const auto is_sibling = [&](std::int64_t pid) {
        return parent_of(pid) == ::getppid() && runs(pid, directory);
    };

    return static_cast<std::size_t>(std::ranges::count_if(process_ids(), is_sibling));
}

SiblingWatch::SiblingWatch(std::size_t expected, std::chrono::milliseconds timeout,
                           std::function<std::size_t()> count)
    : expected_(expected), timeout_(timeout), count_(std::move(count))
{
    CKPT_EXPECT(count_);
}

void SiblingWatch::check()
{
    const std::size_t count = count_();

    if (count >= expected_) {
        missing_since_.reset();
    } else if (!missing_since_) {
        missing_since_ = Clock::now();
    } else if (Clock::now() - *missing_since_ > timeout_) {
        refuse(CKPT_REFUSAL_OTHER_PLACEMENT,
               "cannot meet the other ranks of this node: {} of {} run", count, expected_);
    }
}

} // namespace ckpt::restart
