/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_pages.hpp - the parts of the rank pages that the coordinator's state machine reads.
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>
#include <vector>

namespace ckpt
{

/* For a rank of another node, the values that the node's agent has reported last. */
class RankPages
{
  public:
    virtual ~RankPages() = default;
    /* Slots [0, clock_count) of the rank; unused ones have id 0. */
    virtual std::vector<ckpt_clock> clocks(int rank) const = 0;
    /* Number of messages from one rank to another: sent() by the sender's count, received() by
     * the receiver's. */
    virtual std::uint64_t sent(int from, int to) const = 0;
    virtual std::uint64_t received(int to, int from) const = 0;
};

} // namespace ckpt
