/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker_thread.cpp - runs slow tasks, in order, on a thread beside the event
 * loop.
 */
#include "agent/base/worker_thread.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <iterator>
#include <utility>

namespace ckpt
{

WorkerThread::WorkerThread()
    : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!event_) {
        fail_errno(errno, "no eventfd");
    }
    thread_ = std::thread([this] { work(); });
}

void WorkerThread::stop()
{
    if (!thread_.joinable()) {
        return;
    }
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void WorkerThread::run(Task task)
{
    CKPT_EXPECT(task);
    {
        std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
}

void WorkerThread::reply(Task task)
{
    CKPT_EXPECT(task);
    {
        std::lock_guard lock(mutex_);
        replies_.push_back(std::move(task));
    }
    eventfd_write(event_.get(), 1);
}

void WorkerThread::run_replies()
{
    eventfd_t count;
    std::deque<Task> replies;

    eventfd_read(event_.get(), &count);
    {
        std::lock_guard lock(mutex_);
        replies.swap(replies_);
    }
    try {
        while (!replies.empty()) {
            const Task reply = std::move(replies.front());
            replies.pop_front();
            reply();
        }
    } catch (...) {
        put_back(std::move(replies));
        throw;
    }
}

/* After a reply that has thrown: the others run at the next call. */
void WorkerThread::put_back(std::deque<Task> replies)
{
    {
        std::lock_guard lock(mutex_);
        replies_.insert(replies_.begin(), std::make_move_iterator(replies.begin()),
                        std::make_move_iterator(replies.end()));
    }
    eventfd_write(event_.get(), 1);
}

/* A violated invariant ends the task. The event loop finds out about it when it wakes up. */
void WorkerThread::perform(const Task &task)
{
    try {
        task();
    } catch (const InvariantViolated &) {
        eventfd_write(event_.get(), 1);
    }
}

bool WorkerThread::idle() const
{
    std::lock_guard lock(mutex_);
    return tasks_.empty() && replies_.empty() && !busy_;
}

void WorkerThread::work()
{
    std::unique_lock lock(mutex_);

    for (;;) {
        changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
        if (tasks_.empty()) {
            return;
        }
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        busy_ = true;
        lock.unlock();
        perform(task);
        task = {}; /* destroys what the task holds before the thread counts
                      as idle */
        lock.lock();
        busy_ = false;
    }
}

} // namespace ckpt
