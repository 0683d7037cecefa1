/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_cap.cpp - the ranks that were asked, and the time limit for their
 * checkpoints.
 */
#include "protocol/log_cap.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <iterator>

namespace ckpt
{

void LogCap::look(const IndependentState &state, Time now)
{
    asked_.clear();
    is_replaying_ = false;
    for (int rank = 0; rank < std::ssize(state.ranks); rank++) {
        const ckpt_independent_rank &one = state.ranks[rank];
        if (ignores_requests(one)) {
            asked_.push_back(rank);
        }
        is_replaying_ = is_replaying_ || one.replaying != 0;
    }
    if (asked_.empty()) {
        since_.reset();
        pause_ = shortest_pause;
    } else if (!since_) {
        since_ = now;
    }
    CKPT_INVARIANT(since_.has_value() == !asked_.empty());
}

bool LogCap::is_due(Time now, Time last) const
{
    return since_ && !is_replaying_ && now >= std::max(*since_, last) + pause_;
}

void LogCap::begun()
{
    pause_ = std::min(2 * pause_, longest_pause);
    CKPT_INVARIANT(pause_ >= shortest_pause && pause_ <= longest_pause);
}

} // namespace ckpt
