/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_limit.hpp - limits the bytes per second written to the file system, so that
 * other users of it get their share.
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

    /* rate: bytes per second; 0: no limit. */
    explicit WriteLimit(std::uint64_t rate)
        : rate_(rate) {}

    /* Returns the time at which `bytes` bytes, ready now, may be written. A caller
     * that starts each write at its time, and asks again before the next one, keeps to
     * the rate. */
    Time turn(Time now, std::uint64_t bytes);

    /* Waits until that time, or until cancelled. */
    void wait(std::uint64_t bytes, const std::atomic<bool> &cancelled);

  private:
    const std::uint64_t rate_;
    std::mutex mutex_;
    Time free_{}; /* when all granted writes end at the given rate */
};

} // namespace ckpt
