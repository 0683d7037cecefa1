/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_proxy.cpp - answers in place of a rank that has died.
 */
#include "protocol/rank_proxy.hpp"

#include "common/invariant.hpp"
#include "protocol/rank_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ckpt
{

RankProxy::RankProxy(int rank, std::uint64_t snapshot, std::vector<ckpt_clock> clocks,
                     std::vector<std::uint64_t> received)
    : rank_(rank), snapshot_(snapshot), clocks_(std::move(clocks)),
      received_(std::move(received))
{
    CKPT_EXPECT(rank >= 0 && snapshot != 0);
    for (ckpt_clock &clock : clocks_) {
        entered_.push_back(clock.entered);
        clock.entered = std::min(clock.entered, clock.left);
    }
    CKPT_INVARIANT(entered_.size() == clocks_.size());
}

ckpt_message RankProxy::answer(ckpt_message_type type) const
{
    return make_message(type, epoch_);
}

ckpt_message RankProxy::refusal(const std::string &why, ckpt_refusal identity) const
{
    return make_refusal(epoch_, identity, fmt::format("rank {} is lost: {}", rank_, why));
}

ckpt_message RankProxy::place(ckpt_message_type type, ckpt_place place, bool holds) const
{
    ckpt_message message = answer(type);

    message.as.report.place = place;
    message.as.report.holds = holds ? 1 : 0;
    return message;
}

/* Messages that the dead rank had not received are lost: the network ended with the rank. */
ckpt_message RankProxy::drained() const
{
    for (std::size_t peer = 0; peer < expected_.size(); peer++) {
        const std::uint64_t received = peer < received_.size() ? received_[peer] : 0;
        if (expected_[peer] != received) {
            return refusal(fmt::format("rank {} has sent it {} messages, its copy has {}", peer,
                                       expected_[peer], received));
        }
    }
    return answer(CKPT_MSG_DRAINED);
}

ckpt_message RankProxy::ready() const
{
    ckpt_message message = answer(CKPT_MSG_READY);

    message.as.ready.snapshot = snapshot_;
    message.as.ready.flags = CKPT_READY_SHARED;
    return message;
}

RankProxy::Answer RankProxy::ordered(ckpt_message_type type, std::uint64_t epoch)
{
    epoch_ = epoch;
    switch (type) {
    case CKPT_MSG_REQUEST:
    case CKPT_MSG_RUN: /* it cannot run, so it reports that it waits */
        return place(CKPT_MSG_REPORT, CKPT_PLACE_WAIT, false);
    case CKPT_MSG_STOP:
        return place(CKPT_MSG_STOPPED, CKPT_PLACE_FREE, true);
    case CKPT_MSG_DRAIN:
        return drained();
    case CKPT_MSG_SAVE:
        return ready();
    case CKPT_MSG_CUT:
        return refusal("it can only be saved while all stand still", CKPT_REFUSAL_NEEDS_STOP);
    default:
        return std::nullopt;
    }
}

RankProxy::Answer RankProxy::set_targets(const std::vector<std::uint64_t> &targets)
{
    const std::size_t count = std::min(targets.size(), clocks_.size());
    CKPT_INVARIANT(count <= entered_.size());

    for (std::size_t i = 0; i < count; i++) {
        ckpt_clock &clock = clocks_[i];
        if (clock.id == 0 || targets[i] <= clock.left) {
            continue;
        }
        if (targets[i] > entered_[i]) {
            return refusal("others are in a collective call that it has not entered, or "
                           "have left it");
        }
        clock.entered = clock.left = targets[i];
        CKPT_INVARIANT(clock.left <= entered_[i]); /* what it has done, or was about to do */
        clock.settled = std::max(clock.settled, targets[i]);
    }
    return std::nullopt;
}

} // namespace ckpt
