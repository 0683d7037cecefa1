/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_plan.cpp - nodes in use, spare nodes, and lost nodes.
 */
#include "cli/launchers/node_plan.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ckpt::cli
{

namespace
{

NodeList::iterator find(NodeList &nodes, const std::string &host)
{
    return std::find_if(nodes.begin(), nodes.end(), [&](const NodeSlots &node) {
        return is_same_host(node.host, host);
    });
}

} // namespace

NodePlan::NodePlan(NodeList nodes, std::size_t spares)
    : nodes_(std::move(nodes)), spares_(spares)
{
    if (spares_ > 0 && spares_ >= nodes_.size()) {
        fail("of {} nodes that the command names {} cannot be spares", nodes_.size(),
             spares_);
    }
}

void NodePlan::move(const std::string &from, const std::string &to)
{
    NodeList usable = without(nodes_, lost_);
    const std::size_t count = std::min(usable.size(), nodes_.size() - spares_);
    auto old = find(usable, from);

    if (old == usable.end() || static_cast<std::size_t>(old - usable.begin()) >= count) {
        fail("the job does not run on {}", from);
    }
    auto next = to.empty() ? usable.begin() + static_cast<std::ptrdiff_t>(count)
                           : find(usable, to);
    if (next == usable.end() && !to.empty()) {
        usable.push_back({to, old->slots}); /* not in the command */
        old = find(usable, from);
        next = usable.end() - 1;
        spares_++;
    }
    if (next == usable.end()) {
        fail("no spare node is left");
    }
    if (static_cast<std::size_t>(next - usable.begin()) < count) {
        fail("the job runs on {} already", next->host);
    }
    next->slots = old->slots;
    std::swap(*old, *next);
    nodes_ = std::move(usable);
    spares_ = nodes_.size() - count;
    CKPT_INVARIANT(spares_ < nodes_.size());
    is_moved_ = true;
}

/* Returns the usable nodes among `hosts`, in that order. */
NodeList NodePlan::known(const std::vector<std::string> &hosts) const
{
    NodeList all = nodes_, found;

    for (const std::string &host : hosts) {
        const auto node = find(all, host);
        if (node == all.end()) {
            fail("node {} is unknown: the command does not name it", host);
        }
        if (find(found, host) == found.end()) {
            found.push_back(*node);
        }
    }
    return without(found, lost_);
}

std::size_t NodePlan::use_only(const std::vector<std::string> &hosts)
{
    CKPT_EXPECT(spares_ <= nodes_.size());
    NodeList used = without(nodes_, lost_);
    used.resize(std::min(used.size(), nodes_.size() - spares_));
    NodeList listed = known(hosts), free;
    std::ranges::copy_if(listed, std::back_inserter(free), [&](const NodeSlots &node) {
        return find(used, node.host) == used.end();
    });
    std::size_t moved = 0;

    for (NodeSlots &node : used) {
        if (find(listed, node.host) != listed.end()) {
            continue;
        }
        if (moved == free.size()) {
            fail("no free node is listed for the ranks on {}", node.host);
        }
        node.host = free[moved++].host;
    }
    CKPT_INVARIANT(moved <= free.size());
    spares_ = free.size() - moved;
    used.insert(used.end(), free.begin() + static_cast<std::ptrdiff_t>(moved), free.end());
    nodes_ = std::move(used);
    is_moved_ = true;
    return moved;
}

NodeList NodePlan::now(int ranks) const
{
    CKPT_EXPECT(spares_ <= nodes_.size());
    return for_ranks(without(nodes_, lost_), nodes_.size() - spares_, ranks);
}

} // namespace ckpt::cli
