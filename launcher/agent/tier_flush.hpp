/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tier_flush.hpp - brings the newest checkpoint of a job from the fast tier to the slow
 * one, while the job runs on. Part of the coordinator.
 *
 * Each node copies its own piece; the manifest is written when all have. One checkpoint is
 * under way at a time, with those that it was made on top of; of those that come
 * meanwhile only the newest will be next. What goes wrong is told, and tried again with
 * the next checkpoint.
 */
#pragma once

#include "agent/worker_thread.hpp"
#include "image/store.hpp"
#include "image/tier_copy.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ckpt
{

/* To be used by the thread of the event loop, unless something else is said. */
class TierFlush
{
  public:
    struct Hooks {
        /* Has a piece copied, which copied() will tell; by which host, empty: by none. */
        std::function<std::string(const TierCopy &copy, const Piece &piece)> copy;
        /* Nothing is under way just now. */
        std::function<void()> over;
    };
    /* Why not; empty if it is whole in the slow tier. */
    using Then = std::function<void(const std::string &error)>;

    /* worker: of the event loop. fast: the directory of the job there. keep: checkpoints
     * in the slow tier. interval: from one that is to be copied to the next one, at least;
     * those between them are not. */
    TierFlush(WorkerThread &worker, std::filesystem::path fast, Store slow, std::string job,
              std::size_t keep, Hooks hooks, std::chrono::nanoseconds interval = {});

    /* This checkpoint is whole in the fast tier: from now on it is the one to be copied. It
     * may still be given up: forget(). */
    void want(std::uint64_t number, Then then = {});
    /* The same, and it is there to stay: older ones are not needed. */
    void committed(std::uint64_t number);
    /* A piece has been folded: takes its place in the fast tier as soon as nothing is copied
     * from there, and then in the slow one. */
    void replace(std::uint64_t number, const Piece &folded);
    /* It has never been: neither here nor there. */
    void forget(std::uint64_t number);
    /* A host's answer. error: why it has not been copied, or empty */
    void copied(const std::string &host, const std::string &file, const std::string &error);
    void host_gone(const std::string &host);

    bool idle() const { return target_ == 0 && thread_.idle(); }

    void write_job_state(const JobState &state);

    /* The newest that is whole in the slow tier by our doing, what is under way (0: none),
     * and why the last one is not there (or ""). */
    std::uint64_t flushed() const { return flushed_; }
    std::uint64_t under_way() const { return target_; }
    const std::string &error() const { return error_; }
    /* How long the newest copy took. */
    double seconds() const { return seconds_; }

    /* What is not needed in the fast tier any more: all numbers below `newest` that are in
     * none of the chains of `stay`. Thread-safe. */
    struct Needed {
        std::uint64_t newest = 0;
        std::set<std::uint64_t> stay;
    };
    Needed needed() const;

  private:
    using Folded = std::pair<std::uint64_t, Piece>; /* of which checkpoint */
    using Copying = std::pair<std::string, std::string>; /* host, file */

    std::uint64_t wanted() const { return std::max(due_, uncertain_); }
    void begin();
    void put_into_place(const std::vector<Folded> &folded) const;
    void next();
    void copy_pieces(const TierCopy &copy);
    void all_answered();
    void publish();
    void failed(const std::string &reason);
    void end();
    void remove(std::uint64_t number);
    void run(std::function<void()> task);
    void collect_garbage();

    WorkerThread &worker_;
    const std::filesystem::path fast_;
    const Store slow_;
    const std::string job_;
    const std::size_t keep_;
    const Hooks hooks_;
    const std::chrono::nanoseconds interval_;

    mutable std::mutex mutex_; /* of what needed() tells */
    std::uint64_t newest_ = 0; /* committed */
    std::uint64_t target_ = 0; /* under way; 0: nothing is */

    std::uint64_t due_ = 0;       /* is wanted, and there to stay; 0: none has been yet */
    std::optional<std::chrono::steady_clock::time_point> due_since_;
    std::uint64_t uncertain_ = 0; /* is wanted, and may be given up; 0: none */
    std::deque<TierCopy> copies_; /* until the target is whole; the first is under way */
    std::set<Copying> copying_;
    std::string failure_; /* of what is under way */
    std::vector<Folded> folded_; /* not yet in its place */
    std::set<std::uint64_t> forgotten_;
    std::vector<std::pair<std::uint64_t, Then>> then_;

    std::uint64_t flushed_ = 0;
    std::string error_;
    std::chrono::steady_clock::time_point begun_;
    double seconds_ = 0;
    WorkerThread thread_; /* last: its work ends before all else does */
};

} // namespace ckpt
