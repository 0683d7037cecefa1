/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_seen.hpp - what a rank has seen itself of a checkpoint: a copy of its
 * page's struct ckpt_history; and what its agent has seen of the sweep.
 */
#pragma once

#include "ckpt/wire.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ckpt
{

/* A message of the sweep, as the agent of one end has seen it; CLOCK_MONOTONIC,
 * nanoseconds. */
struct SweepSeen {
    std::uint32_t from = 0; /* of the job's nodes */
    std::uint32_t to = 0;
    std::uint32_t dimension = 0;
    bool sent = false; /* else received */
    std::int64_t at = 0;
};

struct RankSeen {
    /* By enum ckpt_seen_kind; also of what is not among `events`. */
    std::array<std::uint64_t, CKPT_SEEN_KINDS> counts{};
    std::uint64_t logged_bytes = 0;
    std::vector<ckpt_seen> events;
    std::vector<SweepSeen> sweep; /* with the first rank of a node: its agent's */
};

} // namespace ckpt
