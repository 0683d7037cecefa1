/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replayability.hpp - whether a dead rank can go on from its latest independent checkpoint while
 * the others keep their state (docs/protocol.md, section 12).
 */
#pragma once

#include "ckpt/independent.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* Content of the page of ranks with independent checkpoints (ckpt/independent.h). */
struct IndependentState {
    std::vector<ckpt_independent_rank> ranks;
};

/* Whether the rank was asked for an independent checkpoint and has taken none since. */
inline bool ignores_requests(const ckpt_independent_rank &rank)
{
    return rank.wanted != rank.kept_wanted;
}

/* Returns why `rank` cannot be replayed from its copy with this number (0: no copy), whatever
 * the others do; "": it can. The state may have any content. Context: normal. */
std::string own_obstacle(const IndependentState &state, int rank, std::uint64_t copy);

/* Returns the same, and also checks that no other rank is in the middle of a call that may
 * involve `rank`. */
std::string replay_obstacle(const IndependentState &state, int rank, std::uint64_t copy);

} // namespace ckpt
