/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathering.hpp - the command's side of gathering the pieces of a checkpoint that lies on
 * nodes, before the ranks of a new launch are restarted from it (docs/levels.md): hears what
 * each node has, tells it what to fetch and to make again, and lets all ranks go when all
 * is there.
 *
 * ckpt-gather, in the place of each rank, is the other side.
 */
#pragma once

#include "agent/peer_listener.hpp"
#include "agent/refusals.hpp"
#include "common/event_loop.hpp"
#include "gather/gather_plan.hpp"
#include "image/node_record.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace ckpt::gather
{

/* Names the file that says where the command is to be found. */
inline constexpr const char *gather_variable = "CKPT_GATHER";

class Gathering
{
  public:
    /* pieces: that have been fetched or made again, in so many seconds. */
    using Done = std::function<void(std::size_t pieces, double seconds)>;

    /* Listens, and says where in `file` (agent/supervisor_file.hpp). host: name of this
     * node. done: is told when all ranks go on. Throws Error. `loop` must live longer. */
    Gathering(EventLoop &loop, std::filesystem::path file, std::string host,
              NodeRecord record, Done done);
    ~Gathering(); /* removes the file */

    /* All ranks have been told to go on. */
    bool is_done() const { return is_done_; }
    /* Why they cannot; empty: nothing has gone wrong so far. */
    const std::string &failure() const { return failure_; }

  private:
    /* A rank-to-be. */
    struct Rank {
        std::unique_ptr<FrameStream> stream;
        std::string host;
        int rank = -1;
        bool leads = false; /* does the work of its node */
        bool is_working = false;
    };

    void accept(std::unique_ptr<FrameStream> stream, const std::string &host);
    void said(Rank &rank, const nlohmann::json &frame);
    void lost(Rank &rank);
    void arrived(Rank &rank, const nlohmann::json &frame);
    void plan();
    void finish();
    void fail_all(const std::string &why);
    void tell_all(const nlohmann::json &frame);

    const std::filesystem::path file_;
    const NodeRecord record_;
    Refusals refusals_;
    std::list<Rank> ranks_;
    std::map<std::string, Holder> nodes_; /* by host; without a place: has not told yet */
    const Done done_;
    bool is_planned_ = false;
    std::chrono::steady_clock::time_point planned_at_;
    std::size_t pieces_ = 0; /* to be fetched or made again */
    bool is_done_ = false;
    std::string failure_;
    std::unique_ptr<PeerListener> listener_;
};

} // namespace ckpt::gather
