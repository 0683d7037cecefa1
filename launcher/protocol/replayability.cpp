/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replayability.cpp - whether a dead rank can go on from its latest independent checkpoint.
 */
#include "protocol/replayability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ckpt
{

std::string own_obstacle(const IndependentState &state, int rank, std::uint64_t copy)
{
    if (rank < 0 || rank >= std::ssize(state.ranks)) {
        return fmt::format("the page of independent checkpoints has no rank {}", rank);
    }
    const ckpt_independent_rank &dead = state.ranks[rank];
    if (copy == 0) {
        return fmt::format("rank {} has no independent checkpoint", rank);
    }
    if (dead.kept != copy) { /* the rank died while it took a checkpoint */
        return fmt::format("rank {} was just taking its independent checkpoint {}", rank,
                           std::max(dead.kept, copy));
    }
    if (dead.lost != 0) {
        return fmt::format("a log lacks what rank {} would need", rank);
    }
    if (dead.uncovered != dead.uncovered_done) {
        return fmt::format("rank {} has died in a call that cannot be replayed", rank);
    }
    if (dead.uncovered != dead.kept_uncovered) {
        return fmt::format("rank {} has communicated since its independent checkpoint in a way "
                           "that cannot be replayed",
                           rank);
    }
    return {};
}

std::string replay_obstacle(const IndependentState &state, int rank, std::uint64_t copy)
{
    std::string why = own_obstacle(state, rank, copy);

    for (int other = 0; why.empty() && other < std::ssize(state.ranks); other++) {
        const ckpt_independent_rank &living = state.ranks[other];
        if (other != rank && living.uncovered != living.uncovered_done) {
            why = fmt::format("rank {} is in a call that cannot be replayed", other);
        }
    }
    return why;
}

} // namespace ckpt
