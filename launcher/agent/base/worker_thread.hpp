/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker_thread.hpp - runs slow tasks, in order, on a thread beside the event
 * loop.
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

    /* Queues a task, which must not throw, except for InvariantViolated: that ends the task, and
     * wakes up the event loop. May be called from any thread. */
    void run(Task task);

    /* Called by a task: `task` will run on the event loop's thread, in
     * order. */
    void reply(Task task);

    /* Readable when there are replies. */
    int descriptor() const { return event_.get(); }
    /* Runs the waiting replies. Call on the event loop's thread. If a reply throws, the others
     * wait for the next call. */
    void run_replies();

    /* Whether no task is queued or running and no reply waits. */
    bool idle() const;

  private:
    void work();
    void perform(const Task &task);
    void put_back(std::deque<Task> replies);

    Fd event_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    std::deque<Task> replies_;
    bool busy_ = false;
    bool ending_ = false;
    std::thread thread_; /* last: starts when all other members exist */
};

} // namespace ckpt
