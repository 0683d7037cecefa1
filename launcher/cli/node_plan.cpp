/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_plan.cpp - nodes in use, spares, and those that were lost.
 */
#include "cli/node_plan.hpp"

#include "common/error.hpp"

#include <algorithm>
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
        usable.push_back({to, old->slots}); /* one that the command does not name */
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
    is_moved_ = true;
}

NodeList NodePlan::now(int ranks) const
{
    return for_ranks(without(nodes_, lost_), nodes_.size() - spares_, ranks);
}

} // namespace ckpt::cli
