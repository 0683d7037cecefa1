/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.cpp - distributes the nodes to groups.
 */
#include "config.h"
#include "redundancy/groups.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace ckpt::redundancy
{

namespace
{

/* Returns the number of groups whose size is nearest to the wanted one, with no group too
 * small. */
std::size_t number_of_groups(std::size_t nodes, const Scheme &scheme)
{
    CKPT_EXPECT(scheme.group > 0 && nodes > scheme.losses);
    const std::size_t nearest = (nodes + scheme.group / 2) / scheme.group;

    return std::clamp<std::size_t>(nearest, 1, nodes / (scheme.losses + 1));
}

/* Sorts nodes so that those of a domain are adjacent; domains keep the order of their
 * first nodes. */
std::vector<std::size_t> sorted_by_domain(std::span<const NodeInfo> nodes)
{
    std::map<std::string, std::size_t> first_of; /* first node of each domain */
    std::vector<std::size_t> order(nodes.size());
    std::vector<std::size_t> key(nodes.size());

    for (std::size_t i = 0; i < nodes.size(); i++) {
        const std::string &domain = nodes[i].domain;
        key[i] = domain.empty() ? i : first_of.emplace(domain, i).first->second;
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return key[i]; });
    return order;
}

} // namespace

/*
 * Deals the nodes round-robin. So the nodes of a domain go to as many groups as possible,
 * and the groups that get one node more differ from domain to domain.
 */
std::vector<std::vector<std::size_t>> make_groups(std::span<const NodeInfo> nodes,
                                                  const Scheme &scheme)
{
    if (scheme.kind == Scheme::Kind::none) {
        return {};
    }
    if (nodes.size() < scheme.losses + 1) {
        fail("{} takes at least {} nodes, and there {}", scheme.text(), scheme.losses + 1,
             nodes.size() == 1 ? "is 1" : fmt::format("are {}", nodes.size()));
    }
    const std::size_t count = number_of_groups(nodes.size(), scheme);
    std::vector<std::vector<std::size_t>> groups(count);
    std::size_t next = 0;
    for (std::size_t node : sorted_by_domain(nodes)) {
        groups[next++ % count].push_back(node);
    }
    CKPT_INVARIANT(next == nodes.size());
    for (auto &group : groups) {
        std::ranges::sort(group);
        CKPT_INVARIANT(group.size() > scheme.losses);
    }
    std::ranges::sort(groups);
    return groups;
}

} // namespace ckpt::redundancy
