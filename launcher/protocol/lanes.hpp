/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.hpp - the ranks that are saved one after another in a staggered
 * checkpoint, and their order. The order avoids that many ranks write to a
 * server at once. It also avoids that consecutive ranks load the same node or
 * the same memory controller.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt
{

/* Ranks that take turns: those of a node; those whose nodes write to the
 * same file server; all. */
enum class Stagger {
    no,
    node,
    storage,
    job
};

/* Place where a rank runs, and where it is saved. */
struct RankPlace {
    int node = 0;       /* the caller numbers the nodes */
    std::string server; /* the server with this node's files; empty: none */
    int memory = 0;     /* the NUMA node within the node */
};

/* Each lane has its ranks in the order of their turns. */
using Lanes = std::vector<std::vector<int>>;

/* Returns the lanes of all ranks; no lanes for Stagger::no. Turns alternate
 * between the nodes of a lane, on each node between its NUMA nodes, and
 * there go by rank. Any context that may allocate; no I/O. */
Lanes lanes_of(Stagger stagger, const std::vector<RankPlace> &places);

} // namespace ckpt
