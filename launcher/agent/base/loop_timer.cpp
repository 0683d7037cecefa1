/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_timer.cpp - a timerfd in the event loop.
 */
#include "agent/base/loop_timer.hpp"

#include "common/error.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace ckpt
{

LoopTimer::LoopTimer(EventLoop &loop, std::function<void()> expired)
    : loop_(loop), expired_(std::move(expired)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))
{
    if (!timer_) {
        fail_errno(errno, "no timer");
    }
    loop_.watch(timer_.get(), EPOLLIN, [this](std::uint32_t) {
        std::uint64_t times;
        if (read(timer_.get(), &times, sizeof times) == sizeof times) {
            expired_();
        }
    });
}

LoopTimer::~LoopTimer()
{
    loop_.forget(timer_.get());
}

void LoopTimer::start(std::chrono::milliseconds after)
{
    /* 0 would stop the timer */
    const auto time = std::max(after, std::chrono::milliseconds(1)).count();
    itimerspec once{};

    once.it_value = {time / 1000, time % 1000 * 1000000};
    timerfd_settime(timer_.get(), 0, &once, nullptr);
}

void LoopTimer::stop()
{
    const itimerspec never{};

    timerfd_settime(timer_.get(), 0, &never, nullptr);
}

} // namespace ckpt
