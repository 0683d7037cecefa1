/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_opening.hpp - opens a job's directories on a separate thread, as their file system may
 * hang. Part of the coordinator.
 */
#pragma once

#include "agent/base/worker_thread.hpp"
#include "agent/coordinator/job_opener.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <optional>

namespace ckpt
{

/* Context, for all functions: the thread of the event loop. */
class JobOpening
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    /* After this time the file system counts as silent. Ranks wait for the same time to begin. */
    static constexpr auto timeout = std::chrono::seconds(2);

    struct Opened {
        std::optional<OpenedJob> job;         /* set if the job was not open */
        std::optional<OpenedJournal> journal; /* set if a request needs it */
    };

    /* worker: of the event loop; it must live longer. done: called by the event loop after each
     * opening. */
    JobOpening(WorkerThread &worker, std::function<void()> done)
        : worker_(worker), done_(std::move(done)) {}

    /* Begins an opening: runs `open` on the thread of this object. What `open` uses must live
     * longer than this object. Requires that no opening is under way. */
    void begin(std::function<Opened()> open, Time now);
    /* Waits for the end of the opening, not longer than `timeout`. */
    void wait() const;

    /* Whether the result was not taken yet. */
    bool is_under_way() const { return result_.valid(); }
    /* Whether there is a result to take. */
    bool is_done() const;
    /* Returns the result of `open`, or throws what it has thrown. Requires is_done(). */
    Opened take() { return result_.get(); }

    /* Returns true once for each opening: `timeout` is over at `now`. is_late(): it has. Require
     * that the opening is under way. */
    bool turns_late(Time now);
    bool is_late() const { return is_late_; }
    /* When turns_late() has to be called; Time::max() if it has returned true. */
    Time late_at() const { return is_late_ ? Time::max() : since_ + timeout; }

  private:
    WorkerThread &worker_;
    const std::function<void()> done_;
    std::future<Opened> result_; /* valid: an opening is under way */
    Time since_{};
    bool is_late_ = false;
    WorkerThread thread_; /* last, so that its work ends before other members are destroyed */
};

} // namespace ckpt
