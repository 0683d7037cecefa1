/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_garbage.hpp - finds the checkpoints on the nodes that `ckpt gc` can remove, and which
 * parts of them this node has. While a job runs, agents remove the checkpoints that it does not
 * need (docs/levels.md); the files of abandoned attempts stay.
 */
#pragma once

#include "image/store/tiers.hpp"

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ckpt
{

struct NodeGarbage {
    std::vector<Checkpoint> noted; /* removable, according to records; newest first */
    /* on this node, with their records gone; newest first */
    std::vector<Checkpoint> left;
    std::set<std::filesystem::path> needed; /* directories that other records name */
};

/*
 * Finds the garbage of a job. The `keep` (at least 1) newest sure checkpoints stay, and all
 * newer ones. A checkpoint is sure if it is complete in a directory that all nodes see, or in
 * this node's directory. A protected one is sure too, unless this node lacks a piece that it
 * should have. Throws Error.
 */
NodeGarbage node_garbage(const Tiers &tiers, const std::string &job, std::size_t keep,
                         std::uint64_t used = 0);

/* Removes the checkpoint's record first, so that a half-removed checkpoint never looks
 * complete; then its files on this node. Files on other nodes stay. Returns the same as
 * Store::remove(). Throws Error. */
std::vector<std::string> remove_noted(const Tiers &tiers, const Checkpoint &checkpoint);
/* Removes the checkpoint's files on this node. Returns the same as Store::remove(). Throws
 * Error. */
std::vector<std::string> remove_left(const Checkpoint &checkpoint);

} // namespace ckpt
