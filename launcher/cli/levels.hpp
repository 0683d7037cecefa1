/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * levels.hpp - where checkpoints are kept, by how much they survive: --levels
 * (docs/levels.md).
 */
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace ckpt::cli
{

struct Levels {
    /* The directory of each node, unless --dir names one; empty: there is no such level. */
    std::filesystem::path on_nodes;
    std::string redundancy = "none"; /* redundancy/scheme.hpp */
    std::chrono::nanoseconds disk{0}; /* from one copy to the disk to the next, at least */

    /* "memory:every,partner:every,disk:10m": a level of each kind at most, in any order;
     * ":every" may be left out. Throws Error. */
    static Levels parse(const std::string &text);
};

} // namespace ckpt::cli
