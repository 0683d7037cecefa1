/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_seen.hpp - what a rank has seen itself of a checkpoint: a copy of its
 * page's struct ckpt_history.
 */
#pragma once

#include "ckpt/wire.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ckpt
{

struct RankSeen {
    /* By enum ckpt_seen_kind; also of what is not among `events`. */
    std::array<std::uint64_t, CKPT_SEEN_KINDS> counts{};
    std::uint64_t logged_bytes = 0;
    std::vector<ckpt_seen> events;
};

} // namespace ckpt
