/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_watch.hpp - watches a listening socket, and keeps watching when no descriptor is left for
 * another connection.
 */
#pragma once

#include "agent/base/loop_timer.hpp"
#include "common/event_loop.hpp"

#include <functional>

namespace ckpt
{

class AcceptWatch
{
  public:
    /* accept: the loop calls this when a connection may wait; accept passes errors of accept(2)
     * to failed(). socket: must stay open as long as this object. Throws Error. */
    AcceptWatch(EventLoop &loop, int socket, std::function<void()> accept);
    ~AcceptWatch();
    AcceptWatch(const AcceptWatch &) = delete;
    AcceptWatch &operator=(const AcceptWatch &) = delete;

    /* error: errno of accept(2). If it says that descriptors or memory are short, this accepts
     * no connection for 100 ms and returns true. The kernel queues new connections meanwhile. */
    bool failed(int error);

  private:
    void watch();

    EventLoop &loop_;
    int socket_;
    std::function<void()> accept_;
    bool is_watched_ = false;
    LoopTimer pause_;
};

} // namespace ckpt
