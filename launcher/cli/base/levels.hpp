/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * levels.hpp - the levels at which checkpoints are kept, by the failures that they survive:
 * --levels (docs/levels.md).
 */
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace ckpt::cli
{

struct Levels {
    /* The local directory of each node, unless --dir names one; empty: no such level. */
    std::filesystem::path on_nodes;
    std::string redundancy = "none";  /* see redundancy/scheme.hpp */
    std::chrono::nanoseconds disk{0}; /* minimum time between two copies to the disk */

    /* Parses "memory:every,partner:every,disk:10m": at most one level of each kind, in any
     * order; ":every" is optional. Throws Error. */
    static Levels parse(const std::string &text);
};

} // namespace ckpt::cli
