/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_loop.hpp - an epoll descriptor, and the handlers of its events.
 */
#pragma once

#include "common/fd.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace ckpt
{

class EventLoop
{
  public:
    using Handler = std::function<void(std::uint32_t events)>; /* EPOLL* */
    using Time = std::chrono::steady_clock::time_point;

    EventLoop();

    /* Watches `fd` (level-triggered), which must stay open until forget().
     * Handlers may watch and forget any descriptor, including their own. */
    void watch(int fd, std::uint32_t events, Handler handler);
    void change(int fd, std::uint32_t events);
    void forget(int fd);

    /* Waits for events, until `until` at most, and calls their handlers. */
    void turn(Time until);

  private:
    Fd epoll_;
    /* An event carries a token, because the descriptor's number may be in
     * use again when the event is handled. */
    std::uint64_t next_token_ = 1;
    std::map<int, std::uint64_t> tokens_;
    std::map<std::uint64_t, std::shared_ptr<Handler>> handlers_;
};

} // namespace ckpt
