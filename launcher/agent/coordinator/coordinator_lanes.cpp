/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_lanes.cpp - decides which ranks are saved one after another. The
 * state machine staggers ranks that run on. For stopped ranks, the nodes write
 * their pieces in turn.
 */
#include "agent/coordinator/coordinator.hpp"
#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt
{

/* Requires that all ranks are present. */
Lanes Coordinator::lanes(Stagger stagger) const
{
    const std::vector<Node *> list = nodes();
    std::vector<std::string> servers(list.size());
    std::vector<RankPlace> places;

    for (std::size_t i = 0; stagger == Stagger::storage && i < list.size();
         i++) {
        servers[i] = list[i]->file_system().server();
    }
    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        Node *node = where_[rank];
        auto at = std::find(list.begin(), list.end(), node) - list.begin();
        CKPT_INVARIANT(node != nullptr && static_cast<std::size_t>(at) < list.size());
        places.push_back(
            {static_cast<int>(at), servers[at], node->memory_of(rank)});
    }
    return lanes_of(stagger, places);
}

/* A node writes its piece on one order, rank after rank. So a node has one
 * turn, at the place of its first rank, with its ranks in the order of the
 * lane. */
void Coordinator::make_turns(const std::vector<std::uint64_t> &snapshots)
{
    CKPT_EXPECT(std::ssize(snapshots) == machine_.rank_count() && attempt_.turns.empty());
    const bool staggered = !attempt_.lanes.empty();

    for (const auto &ranks :
         staggered ? attempt_.lanes : lanes(Stagger::node)) {
        Turns &lane = attempt_.turns.emplace_back();
        for (int rank : ranks) {
            auto turn =
                std::find_if(lane.begin(), lane.end(), [&](const Turn &turn) {
                    return turn.node == where_[rank];
                });
            if (turn == lane.end()) {
                turn = lane.insert(turn, {where_[rank], {}});
            }
            turn->snapshots.emplace_back(rank, snapshots[rank]);
        }
    }
}

void Coordinator::begin_turn(const Turns &lane)
{
    if (!lane.empty()) {
        lane.front().node->capture(attempt_.directory, lane.front().snapshots);
    }
}

/* Starts the next turn of the node's lane. */
void Coordinator::end_turn(const Node &node)
{
    for (Turns &lane : attempt_.turns) {
        if (!lane.empty() && lane.front().node == &node) {
            lane.pop_front();
            begin_turn(lane);
        }
    }
}

/* Drops the turns of a lost node. The checkpoint fails. */
void Coordinator::drop_turns(const Node &node)
{
    for (Turns &lane : attempt_.turns) {
        std::erase_if(lane,
                      [&](const Turn &turn) { return turn.node == &node; });
    }
}

} // namespace ckpt
