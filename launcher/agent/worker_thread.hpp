/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker_thread.hpp - does slow work, in order, beside the event loop.
 */
#pragma once

#include "common/fd.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace ckpt
{

class WorkerThread
{
  public:
    using Task = std::function<void()>;

    WorkerThread();
    ~WorkerThread() { stop(); }

    /* Finishes all tasks; their replies are dropped. */
    void stop();

    /* Queues work. It must not throw. From any thread. */
    void run(Task task);

    /* Called by work: `task` will run on the event loop's thread, in order. */
    void reply(Task task);

    /* Readable when there are replies. */
    int descriptor() const { return event_.get(); }
    /* Runs the replies that are there. On the event loop's thread. */
    void run_replies();

    /* No work is queued or running and no reply is waiting. */
    bool idle() const;

  private:
    void work();

    Fd event_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    std::deque<Task> replies_;
    bool busy_ = false;
    bool ending_ = false;
    std::thread thread_; /* last: starts when all else is there */
};

} // namespace ckpt
