/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.hpp - the ranks of an MPI_COMM_WORLD and the nodes that they run on.
 */
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::world
{

struct WorldNode {
    std::string host;
    std::vector<int> ranks; /* in ascending order, at least one */

    bool operator==(const WorldNode &) const = default;
};

struct World {
    /* PMIx namespace: "ckpt-...", by which ranks know whose server they have
     * (mpi-plugin/lower/host/host_pmix.c). Unique among the worlds of a user on these nodes. */
    std::string name;
    std::vector<WorldNode> nodes;
    std::size_t own_node = 0; /* index of the node whose server this is */
    /* Directory for the MPI library's temporary files. The caller creates and removes it. */
    std::filesystem::path directory;

    const WorldNode &here() const { return nodes.at(own_node); }
    int size() const;

    bool operator==(const World &) const = default;
};

/* Makes a directory for `World::directory` and for the server itself. Its path is short, as the MPI
 * library makes sockets below it, whose paths may have 107 characters. Throws Error. */
std::filesystem::path make_temporary_directory();

/* Throws Error unless the name is usable and the ranks are 0, 1, ... , each once. */
void require_valid(const World &world);

} // namespace ckpt::world
