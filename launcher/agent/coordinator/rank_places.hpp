/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_places.hpp - the nodes of a job and the ranks on them, as far as they are connected. It
 * passes orders to the node of a rank, and reads the rank's page there. Part of the coordinator.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/messages/node.hpp"
#include "image/store/checkpoint_trace.hpp"
#include "world/world.hpp"
#include "protocol/cut/rank_pages.hpp"
#include "protocol/lanes.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ckpt
{

/* Nodes have to live until agent_gone(), or a proxy's node until disconnect(). Context, for all
 * functions: the thread of the event loop. */
class RankPlaces : public RankPages
{
  public:
    explicit RankPlaces(int rank_count);

    int rank_count() const { return static_cast<int>(nodes_.size()); }

    /* A rank has connected to the agent of a node. */
    void connect(int rank, Node &node);
    /* A proxy on this node answers in place of a dead rank. */
    void connect_proxy(int rank, Node &node);
    /* The rank or its proxy has gone. Returns its node; null: it was not connected. */
    Node *disconnect(int rank);
    /* The agent of a node is lost. Its ranks have to be disconnected as well. */
    void agent_gone(Node &node);

    /* Returns the node of a rank; null: the rank is not connected. */
    Node *node_of(int rank) const { return nodes_.at(rank); }
    /* Returns the same of all ranks, by rank. */
    const std::vector<Node *> &by_rank() const { return nodes_; }
    /* Whether all ranks are connected. */
    bool is_complete() const;
    /* Returns the nodes that have ranks, in the order of their first ranks. */
    std::vector<Node *> nodes() const;
    /* Returns the ranks of a node in ascending order. */
    std::vector<int> ranks_on(const Node &node) const;
    /* Sends a message to a rank. Returns whether the rank is connected. */
    bool send(const action::Send &order, std::uint64_t epoch) const;

    /* Returns the nodes with agents that ranks have connected to, in the order of the first such
     * connection. They may have no ranks any more. */
    const std::vector<Node *> &agents() const { return agents_; }
    /* Returns the agent of a host; null: it has none. */
    Node *agent_of(const std::string &host) const;

    /* Says which hosts have a directory of checkpoints that other hosts do not see. */
    void set_apart(std::set<std::string> hosts) { apart_ = std::move(hosts); }
    /* Returns the agents of such hosts. */
    std::vector<Node *> agents_apart() const;
    /* Returns the agent that sees the piece that `writer` has written, and should copy it; null:
     * there is none. own: the coordinator's host. */
    Node *copier(const std::string &writer, const std::string &own) const;

    /* Pieces are named after nodes, so two nodes with one name would overwrite each other's piece.
     * Returns why no checkpoint can be taken for that reason, or nothing. */
    Refusal obstacle() const;
    /* Returns the nodes with their ranks, in the order of their first ranks; nothing: a rank is
     * missing. */
    std::vector<world::WorldNode> hosts() const;
    /* Returns the ranks that are saved one after another. Requires is_complete(). */
    Lanes lanes(Stagger stagger) const;
    /* Returns the nodes with their ranks, in the order of their first ranks. Requires
     * is_complete(). */
    std::vector<TraceNode> to_trace() const;
    /* Fills in where ranks are or last were, also for nodes whose agent was lost. */
    void fill(control::Status &status) const;

    /* For a rank that is not connected: no clocks, and 0 messages. */
    std::vector<ckpt_clock> clocks(int rank) const override;
    std::uint64_t sent(int from, int to) const override;
    std::uint64_t received(int to, int from) const override;

  private:
    std::vector<Node *> nodes_;      /* by rank; null: the rank is not connected */
    std::vector<std::string> hosts_; /* by rank: the rank's latest host; empty: none yet */
    std::vector<Node *> agents_;     /* agents that ranks have connected to */
    std::set<std::string> apart_;    /* hosts with their own directory of checkpoints */
};

} // namespace ckpt
