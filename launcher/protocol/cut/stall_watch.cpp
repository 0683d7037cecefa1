/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stall_watch.cpp - compares what can change with what it was.
 */
#include "protocol/cut/stall_watch.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

void StallWatch::begin(Time now, Duration stall_timeout)
{
    CKPT_EXPECT(stall_timeout > Duration{}); /* is_time_to_ask() doubles it */
    since_ = now;
    ask_after_ = stall_timeout;
}

bool StallWatch::has_moved(const std::vector<RankState> &ranks, const Clocks &clocks)
{
    CKPT_EXPECT(ranks.size() == clocks.size());
    std::vector<std::uint64_t> fingerprint;

    for (std::size_t i = 0; i < ranks.size(); i++) {
        fingerprint.push_back(ranks[i].place * 2 + (ranks[i].holds ? 1 : 0));
        for (const ckpt_clock &clock : clocks[i]) {
            fingerprint.push_back(clock.entered);
            fingerprint.push_back(clock.left);
            fingerprint.push_back(clock.settled);
        }
    }
    return std::exchange(fingerprint_, fingerprint) != fingerprint;
}

bool StallWatch::is_time_to_ask(Time now, Duration longest)
{
    if (still(now) < ask_after_) {
        return false;
    }
    ask_after_ += std::min(ask_after_, longest);
    return true;
}

bool can_move(const RankState &rank, const RankClocks &clocks, const FewestEntered &fewest)
{
    bool inside = false;

    for (const ckpt_clock &clock : clocks) {
        if (clock.id != 0 && clock.entered > clock.left) {
            if (fewest.at(clock.id) >= clock.entered) {
                return true;
            }
            inside = true;
        }
    }
    return !inside && rank.place != CKPT_PLACE_GATE && rank.place != CKPT_PLACE_WAIT &&
           rank.place != CKPT_PLACE_INSIDE;
}

} // namespace ckpt
