/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * siblings.hpp - the restart programs that the launcher has started on this node.
 */
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

namespace ckpt::restart
{

/* Returns the number of living processes with the parent of this process that run programs of its
 * directory, including this one. A rank may run ckpt-gather before the restart program. Throws
 * std::filesystem::filesystem_error if /proc cannot be read. */
std::size_t count_siblings();

/* Notices that a sibling has ended, or was never started. */
class SiblingWatch
{
  public:
    /* expected: number of siblings, including this process. timeout: a launcher takes less time
     * between the starts of two siblings. count: normally count_siblings(). */
    SiblingWatch(std::size_t expected, std::chrono::milliseconds timeout,
                 std::function<std::size_t()> count = count_siblings);

    /* Throws Error if siblings are missing, and have been at each call for longer than the
     * timeout. */
    void check();

  private:
    using Clock = std::chrono::steady_clock;

    const std::size_t expected_;
    const std::chrono::milliseconds timeout_;
    const std::function<std::size_t()> count_;
    std::optional<Clock::time_point> missing_since_;
};

} // namespace ckpt::restart
