/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_gathering.cpp - which parts of fences have come.
 */
#include "world/fence_gathering.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace ckpt::world
{

namespace
{

constexpr std::size_t most_fences = 1024; /* of one world, at a time */

} // namespace

void FenceGathering::add(const World &world)
{
    require_valid(world);
    if (!worlds_.emplace(world.name, Known{world, {}, {}}).second) {
        fail("world {} is known already", world.name);
    }
}

void FenceGathering::forget(const std::string &name)
{
    worlds_.erase(name);
}

/* Returns the nodes with any of these ranks. */
std::set<std::size_t> FenceGathering::nodes_of(const World &world, const std::vector<int> &ranks)
{
    std::set<std::size_t> nodes;
    std::size_t found = 0;

    for (std::size_t node = 0; node < world.nodes.size(); node++) {
        const auto here = static_cast<std::size_t>(
            std::ranges::count_if(world.nodes[node].ranks, [&](int rank) {
                return ranks.empty() || std::ranges::binary_search(ranks, rank);
            }));
        found += here;
        if (here > 0) {
            nodes.insert(node);
        }
    }
    if (!ranks.empty() && found != ranks.size()) {
        fail("a fence of ranks that are not in world {}", world.name);
    }
    return nodes;
}

/* Answers the nodes that have sent their parts. */
FenceGathering::Answer FenceGathering::fail_fence(const FenceId &id, Fence &fence) const
{
    Answer answer{{id, false, {}}, {}};

    for (const auto &[node, data] : fence.parts) {
        answer.nodes.push_back(node);
    }
    fence.has_failed = true;
    fence.parts.clear();
    fence.bytes = 0;
    return answer;
}

std::optional<FenceGathering::Answer> FenceGathering::take(std::size_t node, FencePart part)
{
    const auto known = worlds_.find(part.id.name);
    if (known == worlds_.end()) {
        fail("a fence in world {}, which is not known", part.id.name);
    }
    auto &[world, lost, fences] = known->second;
    if (!std::ranges::is_sorted(part.id.ranks, std::ranges::less_equal())) {
        fail("a fence in world {}: its ranks are not in order", world.name);
    }
    const std::set<std::size_t> nodes = nodes_of(world, part.id.ranks);
    if (!nodes.contains(node)) {
        fail("a fence in world {}: node {} has none of its ranks", world.name, node);
    }
    if (fences.size() >= most_fences && !fences.contains(part.id)) {
        fail("world {} has more than {} fences at a time", world.name, most_fences);
    }
    Fence &fence = fences.try_emplace(part.id, Fence{nodes, {}, 0, false}).first->second;
    std::erase_if(fence.nodes, [&](std::size_t one) { return lost.contains(one); });
    if (!fence.nodes.erase(node)) {
        fail("a fence in world {}: node {} has sent its part before", world.name, node);
    }
    fence.bytes += part.data.size();
    fence.parts.emplace(node, std::move(part.data));
    const bool is_lost =
        std::ranges::any_of(nodes, [&](std::size_t one) { return lost.contains(one); });
    std::optional<Answer> answer;
    if (fence.has_failed || is_lost || fence.bytes > most_bytes_) {
        answer = fail_fence(part.id, fence);
    } else if (fence.nodes.empty()) {
        answer = Answer{{part.id, true, {}}, {}};
        for (auto &[from, data] : fence.parts) {
            answer->nodes.push_back(from);
            answer->result.data += data;
        }
    }
    if (fence.nodes.empty()) { /* every node has its answer */
        CKPT_INVARIANT(answer);
        fences.erase(part.id);
    }
    return answer;
}

std::vector<FenceGathering::Answer> FenceGathering::lose(const std::string &name, std::size_t node)
{
    const auto known = worlds_.find(name);
    std::vector<Answer> answers;

    if (known == worlds_.end() || !known->second.lost.insert(node).second) {
        return answers;
    }
    for (auto &[id, fence] : known->second.fences) {
        /* the node sends nothing any more, and gets no answer */
        const bool takes_part = fence.nodes.erase(node) + fence.parts.erase(node) > 0;
        if (takes_part && !fence.has_failed) {
            answers.push_back(fail_fence(id, fence));
        }
    }
    std::erase_if(known->second.fences,
                  [](const auto &entry) { return entry.second.nodes.empty(); });
    return answers;
}

std::size_t FenceGathering::waiting() const
{
    std::size_t count = 0;

    for (const auto &[name, known] : worlds_) {
        count += static_cast<std::size_t>(
            std::ranges::count_if(known.fences, [](const auto &entry) {
                return !entry.second.has_failed;
            }));
    }
    return count;
}

} // namespace ckpt::world
