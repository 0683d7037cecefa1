/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * small_groups.hpp - sizes of groups that are small enough to try each subset.
 */
#pragma once

#include <utility>
#include <vector>

namespace ckpt::redundancy
{

using Sizes = std::pair<unsigned, unsigned>; /* members, losses */

inline std::vector<Sizes> small_groups()
{
    std::vector<Sizes> all;

    for (unsigned members = 2; members <= 8; members++) {
        for (unsigned losses = 1; losses < members; losses++) {
            all.emplace_back(members, losses);
        }
    }
    return all;
}

} // namespace ckpt::redundancy
