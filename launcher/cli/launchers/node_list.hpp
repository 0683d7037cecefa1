/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_list.hpp - the nodes that a launch command names, and the same command for other nodes.
 */
#pragma once

#include "cli/launchers/launch_line.hpp"

#include <set>
#include <string>
#include <vector>

namespace ckpt::cli
{

struct NodeSlots {
    std::string host;
    int slots = 0; /* ranks that it takes; 0: the command does not tell */
};
using NodeList = std::vector<NodeSlots>;

/*
 * Returns the nodes in order, each once: those of --host and --hostfile (mpirun), -hosts and -f
 * (hydra), --nodelist (srun). Returns an empty list if the command names no nodes, or uses a
 * syntax that this file does not support (a relative index, a bracketed range). Throws Error if
 * a host file cannot be read.
 */
NodeList nodes_of(const LaunchLine &line);

/* Returns the names in a file with one name per line; '#' starts a comment. Throws Error if the
 * file cannot be read, is empty, or has a line that is not a valid name. */
std::vector<std::string> read_node_names(const std::string &path);

/* Whether the names denote the same node: they are equal, or only one of them has a domain. */
bool is_same_host(const std::string &one, const std::string &other);

/* Returns the nodes without those in `lost`. */
NodeList without(const NodeList &nodes, const std::set<std::string> &lost);

/* Returns the first `count` nodes (0: all) with slots for `ranks` ranks. Nodes keep their
 * slots; if these are too few, each node gets as many as needed. */
NodeList for_ranks(const NodeList &nodes, std::size_t count, int ranks);

/* Makes the command use exactly these nodes. */
void set_nodes(LaunchLine &line, const NodeList &nodes);

} // namespace ckpt::cli
