/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writing_turns.cpp - the order in which nodes write their pieces.
 */
#include "agent/coordinator/writing_turns.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt
{

WritingTurns::WritingTurns(const Lanes &lanes, const std::vector<Node *> &nodes,
                           const std::vector<std::uint64_t> &snapshots)
{
    CKPT_EXPECT(snapshots.size() == nodes.size());
    for (const std::vector<int> &ranks : lanes) {
        Lane &lane = lanes_.emplace_back();
        for (int rank : ranks) {
            Node *node = nodes.at(rank);
            CKPT_INVARIANT(node != nullptr);
            auto turn = std::ranges::find(lane, node, &Turn::node);
            if (turn == lane.end()) {
                turn = lane.insert(turn, {node, {}});
            }
            turn->snapshots.emplace_back(rank, snapshots[rank]);
        }
    }
}

void WritingTurns::begin(const std::filesystem::path &directory)
{
    directory_ = directory;
    for (const Lane &lane : lanes_) {
        begin_first(lane);
    }
}

void WritingTurns::begin_first(const Lane &lane) const
{
    if (!lane.empty()) {
        lane.front().node->capture(directory_, lane.front().snapshots);
    }
}

void WritingTurns::end(const Node &node)
{
    for (Lane &lane : lanes_) {
        if (!lane.empty() && lane.front().node == &node) {
            lane.pop_front();
            begin_first(lane);
        }
    }
}

void WritingTurns::drop(const Node &node)
{
    for (Lane &lane : lanes_) {
        std::erase_if(lane, [&](const Turn &turn) { return turn.node == &node; });
    }
}

} // namespace ckpt
