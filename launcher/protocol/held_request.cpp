/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_request.cpp - safe points are counted, like collectives. In most programs, ranks that wait
 * at the same number have everything that the others need to get there.
 */
#include "protocol/held_request.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt
{

namespace
{

/* Limits of the time between two attempts: ranks that come and go must not keep the others busy. */
constexpr auto first_pause = std::chrono::milliseconds(5);
constexpr auto longest_pause = std::chrono::milliseconds(500);

} // namespace

void HeldRequest::begin()
{
    refused_ = false;
    ranks_.clear();
    inside_.clear();
    reached_ = 0;
}

void HeldRequest::refused(int rank, const ckpt_message &message)
{
    CKPT_EXPECT(rank >= 0);
    refused_ = true;
    ranks_[rank] = {refusal_of(message.as.refused.identity), message.text};
    reached_ = std::max(reached_, message.as.refused.safe_points);
}

bool HeldRequest::allowed(int rank, const ckpt_message &message)
{
    reached_ = std::max(reached_, message.as.allowed.safe_points);
    return ranks_.erase(rank) > 0;
}

void HeldRequest::exited(int rank)
{
    ranks_.erase(rank);
}

/* Lets all waiting ranks go on: no rank has passed more than `reached_` safe points. */
bool HeldRequest::go_on(int rank, std::uint64_t reached)
{
    if (!ranks_.contains(rank)) {
        return false; /* it waits at a safe point by now, or can be saved where it is */
    }
    reached_ = std::max(reached_, reached);
    safe_point_ = std::max(safe_point_, reached_) + 1;
    CKPT_INVARIANT(safe_point_ > reached_);
    return true;
}

bool HeldRequest::stuck(int rank, const ckpt_message &message)
{
    return go_on(rank, message.as.allowed.safe_points);
}

bool HeldRequest::inside(int rank, const std::vector<ckpt_clock> &clocks, Time now)
{
    bool is_stuck = false;

    for (const ckpt_clock &clock : clocks) {
        if (clock.id == 0 || clock.entered == clock.left) {
            continue;
        }
        Inside &inside = inside_[{rank, clock.id}];
        if (inside.entered != clock.entered) {
            inside = {clock.entered, now};
        } else if (now - inside.since >= timeout) {
            inside.since = now;
            is_stuck = true;
        }
    }
    return is_stuck && go_on(rank, 0);
}

void HeldRequest::hold(Time now)
{
    due_ = now + pause_;
    pause_ = std::clamp<Duration>(2 * pause_, first_pause, longest_pause);
    CKPT_INVARIANT(pause_ >= first_pause && pause_ <= longest_pause);
    safe_point_ = reached_ + 1;
}

HeldRequest::Time HeldRequest::due() const
{
    return ranks_.empty() ? due_ : Time::max();
}

Refusal HeldRequest::reason() const
{
    if (ranks_.empty()) {
        return {CKPT_REFUSAL_TIME_LIMIT, "it is tried again"};
    }
    const auto &[rank, why] = *ranks_.begin();
    return why.after(ranks_.size() == 1
                         ? fmt::format("rank {}: ", rank)
                         : fmt::format("rank {} and {} more: ", rank, ranks_.size() - 1));
}

void HeldRequest::end()
{
    *this = HeldRequest();
}

} // namespace ckpt
