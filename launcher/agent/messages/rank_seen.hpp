/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_seen.hpp - events of a checkpoint that a rank has recorded, as a copy of
 * its page's struct ckpt_history. The messages of the sweep that its agent has
 * recorded come with them.
 */
#pragma once

#include "ckpt/wire.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ckpt
{

/* A message of the sweep, recorded by the agent at one end. Time:
 * CLOCK_MONOTONIC, nanoseconds. */
struct SweepSeen {
    std::uint32_t from = 0; /* index of the job's node */
    std::uint32_t to = 0;
    std::uint32_t dimension = 0;
    bool sent = false; /* else received */
    std::int64_t at = 0;
};

struct RankSeen {
    /* By enum ckpt_seen_kind; includes events that are not in `events`. */
    std::array<std::uint64_t, CKPT_SEEN_KINDS> counts{};
    std::uint64_t logged_bytes = 0;
    std::vector<ckpt_seen> events;
    std::vector<SweepSeen> sweep; /* of its agent; set only for the first rank of a node */
};

} // namespace ckpt
