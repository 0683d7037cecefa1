/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_plan.hpp - the nodes on which a job runs. Spare nodes replace lost ones, and a node can
 * take the place of another.
 */
#pragma once

#include "cli/launchers/node_list.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace ckpt::cli
{

class NodePlan
{
  public:
    /* No nodes are known; the launcher chooses them. */
    NodePlan() = default;
    /* Reserves the last `spares` nodes. Throws Error if no node is left then. */
    NodePlan(NodeList nodes, std::size_t spares);

    bool is_known() const { return !nodes_.empty(); }
    /* Whether the plan differs from the user's command. */
    bool differs() const
    {
        return is_known() && (spares_ > 0 || !lost_.empty() || is_moved_);
    }

    /* Stops using the node. */
    void lose(const std::string &host) { lost_.insert(host); }
    /* `to` takes the place of `from`, which becomes a spare. An empty `to` means the first
     * spare. Throws Error naming a node that is not in the plan. */
    void move(const std::string &from, const std::string &to);
    /* Uses only these nodes from now on, except lost ones. Ranks on other nodes move to the
     * first free nodes of the list; remaining nodes become spares. Returns how many nodes the
     * ranks leave. Throws Error, without effect, naming a node that is unknown or cannot be
     * replaced. */
    std::size_t use_only(const std::vector<std::string> &hosts);

    /* Returns the number of usable nodes, including spares. */
    std::size_t left() const { return without(nodes_, lost_).size(); }
    std::size_t all() const { return nodes_.size(); }

    /* Returns the nodes for a launch of `ranks` ranks. */
    NodeList now(int ranks) const;

  private:
    NodeList known(const std::vector<std::string> &hosts) const;

    NodeList nodes_; /* nodes in use first */
    std::size_t spares_ = 0;
    std::set<std::string> lost_;
    bool is_moved_ = false;
};

} // namespace ckpt::cli
