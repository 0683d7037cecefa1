/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_state.cpp - where a rank is, and since when it stands still.
 */
#include "protocol/cut/rank_state.hpp"

#include "common/invariant.hpp"

#include <utility>

namespace ckpt
{

RankState RankState::fresh(const RankCutWatch &watch)
{
    RankState rank;

    rank.presence = Presence::here;
    rank.watch = watch;
    return rank;
}

bool RankState::inside_unclocked() const
{
    return place == CKPT_PLACE_INSIDE && (flags & CKPT_INSIDE_CLOCKED) == 0;
}

double RankState::set_place(const ckpt_msg_report &report, Time now)
{
    place = static_cast<std::uint32_t>(report.place);
    slot = static_cast<std::uint32_t>(report.slot);
    flags = static_cast<std::uint32_t>(report.inside);
    if (report.holds == 0) {
        return let_continue(now);
    }
    hold(now);
    return 0;
}

void RankState::hold(Time now)
{
    CKPT_INVARIANT(holds == still_since.has_value()); /* a rank that holds stands still */
    holds = true;
    still_since = still_since.value_or(now);
}

double RankState::let_continue(Time now)
{
    const std::optional<Time> since = std::exchange(still_since, {});

    holds = false;
    return since ? std::chrono::duration<double>(now - *since).count() : 0;
}

} // namespace ckpt
