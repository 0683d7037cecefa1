/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_timer.hpp - one call by the event loop after some time.
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
    /* expired: may start the timer again, not destroy it. Throws Error. */
    LoopTimer(EventLoop &loop, std::function<void()> expired);
    ~LoopTimer();
    LoopTimer(const LoopTimer &) = delete;
    LoopTimer &operator=(const LoopTimer &) = delete;

    /* Once, in the place of what was started before. */
    void start(std::chrono::milliseconds after);
    void stop();

  private:
    EventLoop &loop_;
    std::function<void()> expired_;
    Fd timer_;
};

} // namespace ckpt
