/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_list.hpp - the nodes that a launch command names, and the same command on others.
 */
#pragma once

#include "cli/launch_line.hpp"

#include <set>
#include <string>
#include <vector>

namespace ckpt::cli
{

struct NodeSlots {
    std::string host;
    int slots = 0; /* ranks that it takes; 0: the command does not say */
};
using NodeList = std::vector<NodeSlots>;

/*
 * In their order, each once: those of --host and --hostfile (mpirun), -hosts and -f (hydra),
 * --nodelist (srun). Empty if the command names none, or in a way that this file does not
 * know (a relative index, a bracketed range). Throws Error for a host file that cannot be
 * read.
 */
NodeList nodes_of(const LaunchLine &line);

/* Names in a file, one a line; '#' begins a comment. Throws Error for a file that cannot be read,
 * names nothing, or has a line that is no name. */
std::vector<std::string> read_node_names(const std::string &path);

/* Names of one node: equal, but for a domain that only one of them has. */
bool is_same_host(const std::string &one, const std::string &other);

/* Without those that were lost. */
NodeList without(const NodeList &nodes, const std::set<std::string> &lost);

/* The first `count` of them (0: all), with slots for so many ranks: as many as they had, and if
 * these are too few, as many as it takes on each. */
NodeList for_ranks(const NodeList &nodes, std::size_t count, int ranks);

/* Has the command use these and no others. */
void set_nodes(LaunchLine &line, const NodeList &nodes);

} // namespace ckpt::cli
