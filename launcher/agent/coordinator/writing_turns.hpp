/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writing_turns.hpp - the order in which nodes write their pieces of a checkpoint with stopped
 * ranks. The nodes of a lane write one after another. Part of the coordinator.
 */
#pragma once

#include "agent/messages/node.hpp"
#include "protocol/lanes.hpp"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <vector>

namespace ckpt
{

/* Context, for all functions: the thread of the event loop. */
class WritingTurns
{
  public:
    /* No node writes. */
    WritingTurns() = default;

    /* A node writes its piece on one order, rank after rank. So a node has one turn in a lane, at
     * the place of its first rank there, with its ranks in the order of the lane. lanes: each rank
     * of the job once. nodes: the node of each rank, by rank; it must live until its turn is over
     * or dropped. snapshots: by rank. */
    WritingTurns(const Lanes &lanes, const std::vector<Node *> &nodes,
                 const std::vector<std::uint64_t> &snapshots);

    /* Begins the first turn of each lane. directory: for the pieces. */
    void begin(const std::filesystem::path &directory);
    /* The node has written its piece: begins the next turn of the node's lane. */
    void end(const Node &node);
    /* The node is lost, and its turns with it. No other turn begins because of that: the checkpoint
     * fails. */
    void drop(const Node &node);

  private:
    /* A node's piece, which the node writes without interruption. */
    struct Turn {
        Node *node;
        RankSnapshots snapshots;
    };
    using Lane = std::deque<Turn>; /* the first one writes now */

    void begin_first(const Lane &lane) const;

    std::vector<Lane> lanes_;
    std::filesystem::path directory_;
};

} // namespace ckpt
