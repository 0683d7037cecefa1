/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_watch.hpp - this agent's part in the membership of its job, on a separate thread. So a file
 * system that delays the agent does not make its node look dead.
 */
#pragma once

#include "agent/base/worker_thread.hpp"
#include "common/event_loop.hpp"
#include "membership/membership_service.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace ckpt
{

class NodeWatch
{
  public:
    /* The worker's replies call these, each once. */
    struct Handlers {
        /* Datagrams of another node arrive here. */
        std::function<void()> heard;
        /* The job cannot go on: it has lost another node, or this node counts as lost. why: for
         * the log */
        std::function<void(const std::string &why)> over;
    };

    /* Throws Error. `worker` must live longer. */
    NodeWatch(WorkerThread &worker, membership::UdpSocket socket, membership::Table table,
              Handlers handlers);
    ~NodeWatch();
    NodeWatch(const NodeWatch &) = delete;
    NodeWatch &operator=(const NodeWatch &) = delete;

  private:
    void work();
    void turn();
    void changed(const membership::action::Install &change);
    void tell_heard();
    void tell_over(const std::string &why);

    WorkerThread &worker_;
    Handlers handlers_;
    EventLoop loop_;
    Fd wake_;
    std::atomic<bool> ending_ = false;
    bool has_heard_ = false;
    std::shared_ptr<bool> alive_; /* false when this object is destroyed */
    membership::Service service_;
    std::thread thread_; /* last: starts when all other members exist */
};

} // namespace ckpt
