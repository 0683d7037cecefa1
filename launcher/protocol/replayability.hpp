/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replayability.hpp - whether a rank that has died can go on from its last independent
 * checkpoint, with the others as they are (docs/protocol.md, section 12).
 */
#pragma once

#include "ckpt/independent.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* What the page of ranks with independent checkpoints says (ckpt/independent.h). */
struct IndependentState {
    std::vector<ckpt_independent_rank> ranks;
};

/* It has been asked for a checkpoint of itself, and has taken none since. */
inline bool was_asked_in_vain(const ckpt_independent_rank &rank)
{
    return rank.wanted != rank.kept_wanted;
}

/* Why `rank` cannot be replayed from its copy with this number (0: there is none), whatever
 * the others do; empty: it can be. Any content of the state is allowed. Context: normal. */
std::string own_obstacle(const IndependentState &state, int rank, std::uint64_t copy);

/* Likewise; and that no other rank is in the middle of a call that it may have had with that
 * one. */
std::string replay_obstacle(const IndependentState &state, int rank, std::uint64_t copy);

} // namespace ckpt
