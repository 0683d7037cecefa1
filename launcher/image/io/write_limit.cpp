/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_limit.cpp - starts each write at the time when the previous one would have
 * ended at the given rate.
 */
#include "image/io/write_limit.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <thread>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

/* How long a waiting thread takes at most to notice a cancellation. */
constexpr auto longest_sleep = std::chrono::milliseconds(50);

} // namespace

WriteLimit::Time WriteLimit::turn(Time now, std::uint64_t bytes)
{
    if (rate_ == 0) {
        return now;
    }
    const std::chrono::duration<double> lasts(static_cast<double>(bytes) /
                                              static_cast<double>(rate_));
    std::lock_guard lock(mutex_);
    const Time begin = std::max(now, free_);

    free_ = begin + std::chrono::duration_cast<steady_clock::duration>(lasts);
    CKPT_INVARIANT(free_ >= begin);
    return begin;
}

void WriteLimit::wait(std::uint64_t bytes, const std::atomic<bool> &cancelled)
{
    const Time begin = turn(steady_clock::now(), bytes);

    for (Time now = steady_clock::now(); now < begin && !cancelled;
         now = steady_clock::now()) {
        std::this_thread::sleep_for(
            std::min<steady_clock::duration>(begin - now, longest_sleep));
    }
}

} // namespace ckpt
