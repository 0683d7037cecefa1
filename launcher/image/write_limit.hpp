/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_limit.hpp - no more bytes per second to the file system than a user grants, so
 * that others have something of it.
 *
 * Thread-safe.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace ckpt
{

class WriteLimit
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    /* Bytes per second; 0 for no limit. */
    explicit WriteLimit(std::uint64_t rate) : rate_(rate) {}

    /* When so many bytes may be written if they are ready now. Who writes them at
     * that time, and asks before the next ones, keeps the rate, but for those. */
    Time turn(Time now, std::uint64_t bytes);

    /* Waits for that time, or until cancelled. */
    void wait(std::uint64_t bytes, const std::atomic<bool> &cancelled);

  private:
    const std::uint64_t rate_;
    std::mutex mutex_;
    Time free_{}; /* when all that has been granted has been written */
};

} // namespace ckpt
