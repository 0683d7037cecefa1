/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_model.hpp - the job that is simulated: how many ranks, where they are,
 * and what messages, handling and saving cost.
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

    /* A message from one rank or agent to another takes the latency, a time for
     * each byte, during which its sender can send nothing else, and the
     * handling time at either end. */
    Seconds latency_inside = 0.5e-6;
    Seconds latency_between = 2e-6;
    Seconds byte_inside = 1 / 8e9;
    Seconds byte_between = 1 / 10e9;
    Seconds handling = 0.3e-6;
    /* Each channel's latency is up to this much longer, as a fraction: a
     * channel being two ranks and a colour, between channels nothing is in
     * order. */
    double latency_spread = 0.5;

    double image_bytes = 1e8;
    /* Of one file system, which so many ranks share, evenly; 0: all do. */
    double bandwidth = 2e9;
    Rank ranks_per_file_system = 0;
    /* To close the files and to write the manifest: added to the commit. */
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

/* A fraction in [0, 1) that depends on the three numbers alone (splitmix64). */
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
