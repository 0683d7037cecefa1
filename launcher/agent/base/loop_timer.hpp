/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_timer.hpp - makes the event loop call a function once after some time.
 */
#pragma once

#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <chrono>
#include <functional>

namespace ckpt
{

class LoopTimer
{
  public:
    /* expired: may start the timer again, but must not destroy it. Throws
     * Error. */
    LoopTimer(EventLoop &loop, std::function<void()> expired);
    ~LoopTimer();
    LoopTimer(const LoopTimer &) = delete;
    LoopTimer &operator=(const LoopTimer &) = delete;

    /* Calls `expired` once after this time. Replaces an earlier start(). */
    void start(std::chrono::milliseconds after);
    void stop();

  private:
    EventLoop &loop_;
    std::function<void()> expired_;
    Fd timer_;
};

} // namespace ckpt
