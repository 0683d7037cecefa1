/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.hpp - which nodes protect each other.
 *
 * What fails together is not to be in one group: nodes of a failure domain (a switch, a
 * chassis, a power supply) are dealt out to different groups as far as that goes.
 */
#pragma once

#include "redundancy/scheme.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ckpt::redundancy
{

struct NodeInfo {
    std::string host;
    std::string domain; /* what fails as a whole; "": the node has one of its own */
};

/*
 * Numbers of the nodes of each group, in rising order. Each node is in one group; the sizes
 * differ by one at most, are about what the scheme wants, and never below losses + 1: so an
 * odd number of partners makes one group of three. Of each domain no group has more
 * members than it must. The same nodes give the same groups.
 * No groups if the scheme is `none`. Throws Error if the nodes are too few: it says how many
 * it takes.
 */
std::vector<std::vector<std::size_t>> make_groups(std::span<const NodeInfo> nodes,
                                                  const Scheme &scheme);

} // namespace ckpt::redundancy
