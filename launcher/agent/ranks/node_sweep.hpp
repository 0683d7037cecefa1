/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_sweep.hpp - this node's part in the sweep of a checkpoint (protocol/sweep.hpp): it exchanges
 * messages with the agents of neighbouring nodes.
 */
#pragma once

#include "agent/links/peer_connection.hpp"
#include "agent/messages/rank_seen.hpp"
#include "agent/base/settings.hpp"
#include "agent/messages/sweep_plan.hpp"
#include "protocol/sweep.hpp"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt
{

class NodeSweep
{
  public:
    struct Hooks {
        std::function<void()> opened; /* all neighbours are connected */
        /* Number of messages that all ranks had sent to a rank of this node at their cuts. */
        std::function<void(int rank, std::uint64_t messages)> swept;
        /* This sweep has failed: called once, and no other hook follows. */
        std::function<void(const std::string &reason)> failed;
    };

    NodeSweep(EventLoop &loop, WorkerThread &worker, const Settings &settings,
              RejectedFrames &rejected, Hooks hooks);

    /* Sets the key that authenticates this node to neighbours. Call before the first set_plan(). */
    void set_job_key(const MessageKey &key) { job_key_ = key; }
    /* Call before the first open(), and whenever nodes or ranks have changed. */
    void set_plan(SweepPlan plan);
    /* Begins the sweep of this epoch, and ends an earlier one. Throws Error without a plan. */
    void open(std::uint64_t epoch);
    /* A rank of this node has been cut, after it had sent sent[r] messages to rank r. Ignored if
     * the sweep has another epoch, or the rank was cut before. */
    void cut(int rank, std::uint64_t epoch,
             const std::vector<std::uint64_t> &sent);
    /* Takes a connection on which a neighbour sends its messages of the sweep. */
    void accept(std::unique_ptr<FrameStream> stream);
    /* The messages of the sweep that this node has sent and received. */
    const std::vector<SweepSeen> &seen() const { return seen_; }

  private:
    using Node = SweepTopology::Node;

    struct Network {
        SweepTopology topology;
        SweepRanks ranks;
        std::vector<std::uint32_t> numbers; /* numbers in the sweep, by rank */
    };
    static std::unique_ptr<Network> network_of(const SweepPlan &plan);
    std::set<Node> receivers() const;
    PeerConnection &connection_to(Node node);
    void examine_connections();
    void receive(const nlohmann::json &frame);
    void take(const nlohmann::json &frame);
    void go_on();
    void send(const SweepMessage &message);
    void note(SweepTopology::Place from, SweepTopology::Place to,
              std::uint32_t dimension, bool sent);
    void fail_sweep(const std::string &reason);

    EventLoop &loop_;
    WorkerThread &worker_;
    const Settings &settings_;
    RejectedFrames &rejected_;
    Hooks hooks_;
    std::optional<MessageKey> job_key_;
    SweepPlan plan_;
    std::unique_ptr<Network> network_;
    std::map<std::string, std::unique_ptr<PeerConnection>> calls_; /* by address */
    std::list<std::unique_ptr<FrameStream>> callers_;

    std::uint64_t epoch_ = 0;
    std::unique_ptr<Sweep> sweep_; /* of epoch_, until it has ended or failed */
    bool opening_ = false;
    std::set<int> cut_; /* ranks of this node that are cut */
    std::vector<SweepSeen> seen_;
    std::vector<nlohmann::json> early_; /* messages of sweeps that are not open yet */
};

} // namespace ckpt
