/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.hpp - who is saved one after the other when a checkpoint is staggered,
 * and in which order: so that no server is written to by many at once, and
 * those that follow each other press neither on one node nor on one memory
 * controller.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt
{

/* Which ranks take turns: those of a node; those whose nodes write to one file
 * server; all. */
enum class Stagger { no, node, storage, job };

/* Where a rank runs, and where it is saved. */
struct RankPlace {
    int node = 0;       /* numbers of nodes are the caller's */
    std::string server; /* the one that stores for this node; empty: none */
    int memory = 0;     /* the NUMA node within the node */
};

/* Each lane has its ranks in the order of their turns. */
using Lanes = std::vector<std::vector<int>>;

/* The lanes of all ranks; none at all for Stagger::no. Turns go round the nodes
 * of a lane, on each node round its NUMA nodes, and there by rank. Any context
 * that may allocate; no I/O. */
Lanes lanes_of(Stagger stagger, const std::vector<RankPlace> &places);

} // namespace ckpt
