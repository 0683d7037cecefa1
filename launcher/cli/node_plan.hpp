/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_plan.hpp - on which of its nodes a job runs: some are held back for those that are
 * lost, and one can take the place of another.
 */
#pragma once

#include "cli/node_list.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace ckpt::cli
{

class NodePlan
{
  public:
    /* Nothing is known of nodes: the launcher chooses them. */
    NodePlan() = default;
    /* The last `spares` of them are held back. Throws Error if none is left then. */
    NodePlan(NodeList nodes, std::size_t spares);

    bool is_known() const { return !nodes_.empty(); }
    /* Not what the user's command says. */
    bool differs() const
    {
        return is_known() && (spares_ > 0 || !lost_.empty() || is_moved_);
    }

    /* It is not used any more. */
    void lose(const std::string &host) { lost_.insert(host); }
    /* `to` takes the place of `from`, which becomes a spare; an empty `to` is the first spare.
     * Throws Error that names what is not there. */
    void move(const std::string &from, const std::string &to);
    /* Only these of its nodes from now on, but for those that were lost: who is on another one
     * moves to the first of them that is free, and what is left are spares. Returns how many
     * nodes are left by their ranks. Throws Error that names what is unknown or has no place to
     * go to; then all is as it was. */
    std::size_t use_only(const std::vector<std::string> &hosts);

    /* Those that can be used, spares too. */
    std::size_t left() const { return without(nodes_, lost_).size(); }
    std::size_t all() const { return nodes_.size(); }

    /* For so many ranks. */
    NodeList now(int ranks) const;

  private:
    NodeList known(const std::vector<std::string> &hosts) const;

    NodeList nodes_; /* those in use first */
    std::size_t spares_ = 0;
    std::set<std::string> lost_;
    bool is_moved_ = false;
};

} // namespace ckpt::cli
