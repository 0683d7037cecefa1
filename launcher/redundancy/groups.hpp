/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.hpp - decides which nodes protect each other.
 *
 * Nodes that fail together should not be in one group. So the nodes of a failure domain (a
 * switch, a chassis, a power supply) go to different groups as far as possible.
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
    std::string domain; /* nodes of a domain fail together; "": the node is its own domain */
};

/*
 * Returns the indices of the nodes of each group, ascending. Each node is in one group. The
 * sizes differ by at most one, are close to the scheme's size, and are at least losses + 1;
 * so with an odd number of partners one group has three. Each group has as few members of a
 * domain as possible. The result is deterministic. Returns no groups for the scheme `none`.
 * Throws Error with the required number of nodes if there are too few.
 */
std::vector<std::vector<std::size_t>> make_groups(std::span<const NodeInfo> nodes,
                                                  const Scheme &scheme);

} // namespace ckpt::redundancy
