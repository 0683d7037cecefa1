/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_garbage.hpp - which checkpoints on the nodes can go, for `ckpt gc`, and what of them
 * this node has. Agents remove what a job does not need while it runs (docs/levels.md); of
 * one that was given up it stays.
 */
#pragma once

#include "image/tiers.hpp"

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ckpt
{

struct NodeGarbage {
    std::vector<Checkpoint> noted; /* by records that can go, newest first */
    std::vector<Checkpoint> left;  /* here, though their records have gone; newest first */
    std::set<std::filesystem::path> needed; /* directories that other records name */
};

/*
 * Of a job of which the `keep` (at least 1) newest sure checkpoints stay, and all that are
 * newer: sure is one that is whole where all nodes see it, or in this node's directory; and one
 * that is protected, unless this node should have a piece of it that it has not. Throws Error.
 */
NodeGarbage node_garbage(const Tiers &tiers, const std::string &job, std::size_t keep,
                         std::uint64_t used = 0);

/* Its record first, so that what is half removed never looks whole; then what is here. What is
 * on other nodes stays. Returns what Store::remove() does. Throws Error. */
std::vector<std::string> remove_noted(const Tiers &tiers, const Checkpoint &checkpoint);
/* What is here. Returns the same. Throws Error. */
std::vector<std::string> remove_left(const Checkpoint &checkpoint);

} // namespace ckpt
