/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathering.hpp - gathers the pieces of a checkpoint on the nodes before the ranks of a new
 * launch restart from it (docs/levels.md). This is the side of the command. It receives the
 * list of files of each node, orders nodes to fetch and rebuild pieces, and releases all
 * ranks when every piece is in place.
 *
 * The other side is ckpt-gather, which runs in place of each rank.
 */
#pragma once

#include "agent/links/peer_listener.hpp"
#include "agent/base/rejected_frames.hpp"
#include "common/event_loop.hpp"
#include "gather/gather_plan.hpp"
#include "image/store/node_record.hpp"

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

/* The variable that names the file with the address of the command. */
inline constexpr const char *gather_variable = "CKPT_GATHER";

class Gathering
{
  public:
    /* pieces: number of pieces that were fetched or rebuilt, and the seconds that this
     * took. */
    using Done = std::function<void(std::size_t pieces, double seconds)>;

    /* Listens, and writes its address to `file` (agent/supervision/supervisor_file.hpp). host: name
     * of this node. done: called when all ranks are released. Throws Error. `loop` must outlive
     * this object. */
    Gathering(EventLoop &loop, std::filesystem::path file, std::string host,
              NodeRecord record, Done done);
    ~Gathering(); /* removes the file */

    /* Whether all ranks have been released. */
    bool is_done() const { return is_done_; }
    /* Returns why the gathering has failed; empty: no failure so far. */
    const std::string &failure() const { return failure_; }

  private:
    /* A ckpt-gather process that will become a rank. */
    struct Rank {
        std::unique_ptr<FrameStream> stream;
        std::string host;
        int rank = -1;
        bool leads = false; /* performs the tasks of its node */
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
    RejectedFrames rejected_;
    std::list<Rank> ranks_;
    std::map<std::string, Holder> nodes_; /* by host; no place: has not reported */
    const Done done_;
    bool is_planned_ = false;
    std::chrono::steady_clock::time_point planned_at_;
    std::size_t pieces_ = 0; /* number of pieces to fetch or rebuild */
    bool is_done_ = false;
    std::string failure_;
    std::unique_ptr<PeerListener> listener_;
};

} // namespace ckpt::gather
