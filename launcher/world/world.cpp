/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.cpp - checks the description of a world.
 */
#include "world/world.hpp"

#include "common/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <numeric>

#include <unistd.h>

namespace ckpt::world
{

namespace
{

constexpr std::size_t longest_name = 255; /* PMIX_MAX_NSLEN */

bool is_usable_host(const std::string &host)
{
    /* PMIx lists hosts with commas, and its expressions use brackets. */
    return !host.empty() && host.find_first_of(", []") == host.npos;
}

} // namespace

int World::size() const
{
    return std::accumulate(nodes.begin(), nodes.end(), 0, [](int sum, const WorldNode &node) {
        return sum + static_cast<int>(node.ranks.size());
    });
}

std::filesystem::path make_temporary_directory()
{
    std::string name = fmt::format("{}/ckpt-{}.XXXXXX",
                                   std::filesystem::temp_directory_path().string(), getuid());
    if (mkdtemp(name.data()) == nullptr) {
        fail_errno(errno, "cannot make a directory {}", name);
    }
    return name;
}

void require_valid(const World &world)
{
    if (!world.name.starts_with("ckpt-") || world.name.size() > longest_name) {
        fail("the name of a world is ckpt-..., with {} characters at most", longest_name);
    }
    if (world.own_node >= world.nodes.size()) {
        fail("world {} has no node {}", world.name, world.own_node);
    }
    std::vector<int> ranks;
    for (const WorldNode &node : world.nodes) {
        if (!is_usable_host(node.host)) {
            fail("world {}: '{}' cannot be the name of a node", world.name, node.host);
        }
        if (node.ranks.empty() || !std::ranges::is_sorted(node.ranks)) {
            fail("world {}: the ranks of {} are missing or not in order", world.name, node.host);
        }
        ranks.insert(ranks.end(), node.ranks.begin(), node.ranks.end());
    }
    std::ranges::sort(ranks);
    for (std::size_t i = 0; i < ranks.size(); i++) {
        if (ranks[i] != static_cast<int>(i)) {
            fail("world {}: rank {} is missing, or not the only one", world.name, i);
        }
    }
}

} // namespace ckpt::world
