/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protection.hpp - how the pieces of a checkpoint protect each other: the groups of its
 * nodes, and their form in records (NodeRecord::protection).
 */
#pragma once

#include "image/store/manifest.hpp"
#include "redundancy/group.hpp"
#include "redundancy/scheme.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <vector>

namespace ckpt::redundancy
{

/* domains: a file for parse_domains(); empty: each node is its own domain. Throws Error,
 * also if there are too few nodes. */
std::vector<Group> groups_of(const std::vector<Piece> &pieces, const Scheme &scheme,
                             const std::filesystem::path &domains);

nlohmann::json protection_json(const Scheme &scheme, const std::vector<Group> &groups);
/* Returns no groups if `protection` is null. Throws Error if it is invalid. */
std::vector<Group> groups_from(const nlohmann::json &protection);

} // namespace ckpt::redundancy
