/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_places.cpp - the nodes of a job and the ranks on them.
 */
#include "agent/coordinator/rank_places.hpp"

#include "agent/coordinator/tier_flush.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace ckpt
{

namespace
{

using Runs = std::vector<std::pair<int, int>>; /* first and last rank of each run */

/* Adds a rank that is greater than all ranks in the runs. */
void add_rank(Runs &runs, int rank)
{
    if (!runs.empty() && runs.back().second == rank - 1) {
        runs.back().second = rank;
    } else {
        runs.emplace_back(rank, rank);
    }
}

} // namespace

RankPlaces::RankPlaces(int rank_count)
    : nodes_(rank_count), hosts_(rank_count)
{
    CKPT_EXPECT(rank_count > 0);
}

/* ---- Connections ----------------------------------------------------------- */

void RankPlaces::connect(int rank, Node &node)
{
    CKPT_EXPECT(rank >= 0 && rank < rank_count());
    nodes_[rank] = &node;
    hosts_[rank] = node.host();
    if (std::ranges::find(agents_, &node) == agents_.end()) {
        agents_.push_back(&node);
    }
}

void RankPlaces::connect_proxy(int rank, Node &node)
{
    CKPT_EXPECT(rank >= 0 && rank < rank_count());
    nodes_[rank] = &node;
}

Node *RankPlaces::disconnect(int rank)
{
    CKPT_EXPECT(rank >= 0 && rank < rank_count());
    return std::exchange(nodes_[rank], nullptr);
}

void RankPlaces::agent_gone(Node &node)
{
    std::erase(agents_, &node);
}

/* ---- Ranks ----------------------------------------------------------------- */

bool RankPlaces::is_complete() const
{
    return std::ranges::find(nodes_, nullptr) == nodes_.end();
}

std::vector<Node *> RankPlaces::nodes() const
{
    std::vector<Node *> list;

    for (Node *node : nodes_) {
        if (node != nullptr && std::ranges::find(list, node) == list.end()) {
            list.push_back(node);
        }
    }
    return list;
}

std::vector<int> RankPlaces::ranks_on(const Node &node) const
{
    std::vector<int> ranks;

    for (int rank = 0; rank < rank_count(); rank++) {
        if (nodes_[rank] == &node) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

bool RankPlaces::send(const action::Send &order, std::uint64_t epoch) const
{
    CKPT_EXPECT(order.rank >= 0 && order.rank < rank_count());
    Node *node = nodes_[order.rank];

    if (node == nullptr) {
        return false;
    }
    node->send(order, epoch);
    return true;
}

/* ---- Agents ---------------------------------------------------------------- */

Node *RankPlaces::agent_of(const std::string &host) const
{
    auto found = std::ranges::find(agents_, host, [](Node *node) { return node->host(); });

    return found == agents_.end() ? nullptr : *found;
}

std::vector<Node *> RankPlaces::agents_apart() const
{
    std::vector<Node *> list;

    std::ranges::copy_if(agents_, std::back_inserter(list),
                         [this](const Node *node) { return apart_.contains(node->host()); });
    return list;
}

Node *RankPlaces::copier(const std::string &writer, const std::string &own) const
{
    std::vector<std::string> hosts;

    std::ranges::transform(agents_, std::back_inserter(hosts), &Node::host);
    const std::string host = copier_of(writer, own, hosts, apart_);
    Node *node = agent_of(host);
    CKPT_INVARIANT(host.empty() || node != nullptr);
    return host.empty() ? nullptr : node;
}

/* ---- For a checkpoint ------------------------------------------------------ */

Refusal RankPlaces::obstacle() const
{
    std::map<std::string, const Node *> named;

    for (const Node *node : nodes_) {
        if (node != nullptr && named.try_emplace(node->host(), node).first->second != node) {
            return refusal(CKPT_REFUSAL_SAME_HOST_NAMES,
                           "two nodes have the name {}: give each its own (CKPT_HOST)",
                           node->host());
        }
    }
    return {};
}

Lanes RankPlaces::lanes(Stagger stagger) const
{
    const std::vector<Node *> list = nodes();
    std::vector<std::string> servers(list.size());
    std::vector<RankPlace> places;

    for (std::size_t i = 0; stagger == Stagger::storage && i < list.size(); i++) {
        servers[i] = list[i]->file_system().server();
    }
    for (int rank = 0; rank < rank_count(); rank++) {
        const Node *node = nodes_[rank];
        const auto at = std::ranges::find(list, node) - list.begin();
        CKPT_INVARIANT(node != nullptr && at < std::ssize(list));
        places.push_back({static_cast<int>(at), servers[at], node->memory_of(rank)});
    }
    return lanes_of(stagger, places);
}

std::vector<world::WorldNode> RankPlaces::hosts() const
{
    std::vector<world::WorldNode> hosts;

    if (!is_complete()) {
        return hosts;
    }
    for (const Node *node : nodes()) {
        hosts.push_back({node->host(), ranks_on(*node)});
    }
    return hosts;
}

std::vector<TraceNode> RankPlaces::to_trace() const
{
    std::vector<TraceNode> nodes;
    std::map<const Node *, std::size_t> index;

    for (int rank = 0; rank < rank_count(); rank++) {
        CKPT_EXPECT(nodes_[rank] != nullptr);
        auto [entry, is_new] = index.try_emplace(nodes_[rank], nodes.size());
        if (is_new) {
            nodes.emplace_back().host = nodes_[rank]->host();
        }
        add_rank(nodes[entry->second].ranks, rank);
    }
    return nodes;
}

void RankPlaces::fill(control::Status &status) const
{
    std::map<std::string, std::size_t> index;

    for (int rank = 0; rank < rank_count(); rank++) {
        if (hosts_[rank].empty()) {
            continue;
        }
        auto [entry, is_new] = index.try_emplace(hosts_[rank], status.nodes.size());
        if (is_new) {
            status.nodes.push_back({hosts_[rank], {}, false});
        }
        add_rank(status.nodes[entry->second].ranks, rank);
    }
    for (const Node *agent : agents_) {
        if (auto entry = index.find(agent->host()); entry != index.end()) {
            status.nodes[entry->second].connected = true;
        }
    }
}

/* ---- Pages ----------------------------------------------------------------- */

std::vector<ckpt_clock> RankPlaces::clocks(int rank) const
{
    CKPT_EXPECT(rank >= 0 && rank < rank_count());
    return nodes_[rank] == nullptr ? std::vector<ckpt_clock>() : nodes_[rank]->clocks(rank);
}

std::uint64_t RankPlaces::sent(int from, int to) const
{
    CKPT_EXPECT(from >= 0 && from < rank_count() && to >= 0);
    return nodes_[from] == nullptr ? 0 : nodes_[from]->sent(from, to);
}

std::uint64_t RankPlaces::received(int to, int from) const
{
    CKPT_EXPECT(to >= 0 && to < rank_count() && from >= 0);
    return nodes_[to] == nullptr ? 0 : nodes_[to]->received(to, from);
}

} // namespace ckpt
