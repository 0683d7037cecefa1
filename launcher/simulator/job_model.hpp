/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_model.hpp - the simulated job: number and placement of ranks, and the
 * costs of messages, handling and saving.
 */
#pragma once

#include "protocol/sweep.hpp"

#include <algorithm>
#include <cstdint>

namespace ckpt::simulator
{

using Rank = std::uint32_t;
using Node = std::uint32_t;
using Seconds = double;

/* Ranks are placed on nodes in order. */
struct JobModel {
    Rank ranks = 64;
    Rank ranks_per_node = 8;

    /* Costs of a message from one rank or agent to another: the latency, a time
     * for each byte, and the handling time at both ends. The sender cannot send
     * anything else during the time for the bytes. */
    Seconds latency_inside = 0.5e-6;
    Seconds latency_between = 2e-6;
    Seconds byte_inside = 1 / 8e9;
    Seconds byte_between = 1 / 10e9;
    Seconds handling = 0.3e-6;
    /* Each channel's latency is longer by a random fraction up to this one. A
     * channel is a pair of ranks with a colour; messages of different channels
     * are not ordered. */
    double latency_spread = 0.5;

    double image_bytes = 1e8;
    /* Bandwidth of one file system, in bytes per second, and the number of
     * ranks that share it evenly; 0: all ranks. */
    double bandwidth = 2e9;
    Rank ranks_per_file_system = 0;
    /* Time to close the files and write the manifest; added to the commit. */
    Seconds closing = 0;

    std::uint64_t seed = 1;

    Node nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
    Node node_of(Rank rank) const { return rank / ranks_per_node; }
    Rank first_rank(Node node) const
    {
        return static_cast<Rank>(std::min<std::uint64_t>(
            std::uint64_t{node} * ranks_per_node, ranks));
    }
    Rank ranks_on(Node node) const
    {
        return first_rank(node + 1) - first_rank(node);
    }
    Rank file_systems() const
    {
        return ranks_per_file_system == 0
                   ? 1
                   : (ranks + ranks_per_file_system - 1) /
                         ranks_per_file_system;
    }
    Rank file_system_of(Rank rank) const
    {
        return ranks_per_file_system == 0 ? 0 : rank / ranks_per_file_system;
    }
    Seconds latency(Node from, Node to) const
    {
        return from == to ? latency_inside : latency_between;
    }
    Seconds byte_time(Node from, Node to) const
    {
        return from == to ? byte_inside : byte_between;
    }
};

/* Returns a fraction in [0, 1) that depends only on the three numbers
 * (splitmix64). */
inline double fraction_of(std::uint64_t seed, std::uint64_t one,
                          std::uint64_t two)
{
    std::uint64_t x = seed * 0x9e3779b97f4a7c15U + one * 0xd1b54a32d192ed03U +
                      two * 0x8cb92ba72f3d8dd7U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

} // namespace ckpt::simulator
