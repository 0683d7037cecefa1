/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tier_flush.hpp - copies the newest checkpoint of a job from the fast tier to the slow one, while
 * the job runs on. Part of the coordinator.
 *
 * Each node copies its own piece. The manifest is written when all pieces are copied. One
 * checkpoint is copied at a time, together with the checkpoints that it is based on. Of the
 * checkpoints that come meanwhile, only the newest is next. An error is reported, and the next
 * checkpoint is another attempt.
 */
#pragma once

#include "agent/base/worker_thread.hpp"
#include "image/store/store.hpp"
#include "image/pieces/tier_copy.hpp"

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

/*
 * Returns the host whose agent copies a piece from the fast tier: the writer of the piece, or, if
 * its agent is gone, a host that sees the same directory; "": none does.
 * own: host of the coordinator. hosts: those with an agent. apart: hosts whose fast directory is
 * not the coordinator's.
 */
std::string copier_of(const std::string &writer, const std::string &own,
                      const std::vector<std::string> &hosts,
                      const std::set<std::string> &apart);

/* Only the thread of the event loop may use it, if not said otherwise. */
class TierFlush
{
  public:
    struct Hooks {
        /* Orders the copy of a piece; the caller reports the result with copied(). Returns the
         * host that copies; "": none can. */
        std::function<std::string(const TierCopy &copy, const Piece &piece)> copy;
        /* No copy is under way just now. */
        std::function<void()> over;
    };
    /* error: why the checkpoint is not complete in the slow tier; empty: it is. */
    using Then = std::function<void(const std::string &error)>;

    /* worker: of the event loop. fast: the directory of the job there. keep: checkpoints in the
     * slow tier. interval: shortest time between two checkpoints that are copied; those in
     * between are not copied. */
    TierFlush(WorkerThread &worker, std::filesystem::path fast, Store slow, std::string job,
              std::size_t keep, Hooks hooks, std::chrono::nanoseconds interval = {});

    const Store &slow() const { return slow_; }

    /* This checkpoint is complete in the fast tier: from now on it is the one to copy. It may
     * still be given up: forget(). */
    void want(std::uint64_t number, Then then = {});
    /* Like want(), for a checkpoint that will not be given up: older ones are not needed. */
    void committed(std::uint64_t number);
    /* A piece has been folded. It replaces the piece in the fast tier as soon as nothing is
     * copied from there, and later the one in the slow tier. */
    void replace(std::uint64_t number, const Piece &folded);
    /* The checkpoint was given up: removes it from both tiers. */
    void forget(std::uint64_t number);
    /* A host's answer. error: why the file was not copied, or "". */
    void copied(const std::string &host, const std::string &file, const std::string &error);
    void host_gone(const std::string &host);

    bool idle() const { return target_ == 0 && thread_.idle(); }

    void write_job_state(const JobState &state);

    /* The newest checkpoint that this object has completed in the slow tier, the one being
     * copied (0: none), and why the latest copy failed (or ""). */
    std::uint64_t flushed() const { return flushed_; }
    std::uint64_t under_way() const { return target_; }
    const std::string &error() const { return error_; }
    /* Duration of the newest copy, in seconds. */
    double seconds() const { return seconds_; }

    /* Checkpoints that are still needed in the fast tier. Not needed are all numbers below
     * `newest` that are in no chain of `stay`. Thread-safe. */
    struct Needed {
        std::uint64_t newest = 0;
        std::set<std::uint64_t> stay;
    };
    Needed needed() const;

  private:
    /* number of the checkpoint, and its piece */
    using Folded = std::pair<std::uint64_t, Piece>;
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

    mutable std::mutex mutex_; /* protects the numbers that needed() uses */
    std::uint64_t newest_ = 0; /* newest committed checkpoint */
    std::uint64_t target_ = 0; /* being copied; 0: none */

    std::uint64_t due_ = 0; /* to be copied, and committed; 0: none so far */
    std::optional<std::chrono::steady_clock::time_point> due_since_;
    std::uint64_t uncertain_ = 0; /* to be copied, and may be given up; 0: none */
    std::deque<TierCopy> copies_; /* steps until the target is complete; the first is under way */
    std::set<Copying> copying_;
    std::string failure_;        /* of the copy under way */
    std::vector<Folded> folded_; /* not yet in their places */
    std::set<std::uint64_t> forgotten_;
    std::vector<std::pair<std::uint64_t, Then>> then_;

    std::uint64_t flushed_ = 0;
    std::string error_;
    std::chrono::steady_clock::time_point begun_;
    double seconds_ = 0;
    WorkerThread thread_; /* last, so that its work ends before other members are destroyed */
};

} // namespace ckpt
