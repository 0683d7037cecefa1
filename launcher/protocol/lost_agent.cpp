/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost_agent.cpp - a Chandy-Lamport or network-sweeping checkpoint whose agent dies when some ranks
 * have been cut (docs/consistent-cuts.md, section 1). Nothing is kept, and the next coordinator
 * completes the cut, so that all ranks have the same colour again.
 */
#include "protocol/cut_protocol.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

/* Gives up the checkpoint without completing its cut. Ranks that wait to be saved go on. Ranks
 * that are not cut wait until it is known whether others are. */
void CutProtocol::abandon(Refusal reason, Time now)
{
    mark_failed(std::move(reason));
    for (int i = 0; i < rank_count(); i++) {
        if (!ranks_[i].resumed) {
            let_continue(ranks_[i], now);
            send(i, CKPT_MSG_RESUME, false, CKPT_LEFT_OPEN, reason_.text());
        }
    }
    unsettled_ = true;
    if (settling_) {
        settling_ = false;
        phase_ = Phase::idle;
    } else {
        phase_ = Phase::undo;
        actions_.push_back(action::Undo{});
    }
}

/* Acts when all ranks are connected again. */
void CutProtocol::settle(Time now)
{
    if (!unsettled_ || phase_ != Phase::idle || present() != rank_count()) {
        return;
    }
    unsettled_ = false;
    const bool any_cut =
        std::any_of(ranks_.begin(), ranks_.end(),
                    [](const Rank &rank) { return rank.watch.cut().may_be_open(); });
    if (any_cut) {
        finish_cut(now);
        return;
    }
    for (int i = 0; i < rank_count(); i++) {
        send(i, CKPT_MSG_RESUME, false, CKPT_GIVEN_UP,
             Refusal(CKPT_REFUSAL_AGENT_LOST, "an agent was lost").text());
    }
}

void CutProtocol::finish_cut(Time now)
{
    for (const Rank &rank : ranks_) {
        epoch_ = std::max({epoch_, rank.watch.cut().epoch, rank.watch.cut().asked});
    }
    plan_ = {Protocol::network_sweep, {}};
    reason_ = {CKPT_REFUSAL_AGENT_LOST, "an agent was lost meanwhile"};
    settling_ = moved_ = true;
    swept_ = quiet_ = closing_ = kill_ = false;
    requested_at_ = now;
    enter(Phase::cut, now);
    for (int i = 0; i < rank_count(); i++) {
        ask_to_finish(i, now);
    }
    examine_logs(now);
}

void CutProtocol::ask_to_finish(int rank, Time now)
{
    const RankCut cut = ranks_[rank].watch.cut();

    ranks_[rank] = fresh(ranks_[rank].watch);
    if (cut.epoch == epoch_) { /* all ranks that are closed are in this epoch as well */
        ranks_[rank].asked_at = now;
        ranks_[rank].answered = ranks_[rank].resumed = true;
        ranks_[rank].used = cut.open ? 1 : 0;
    } else {
        order_cut(rank, now); /* perhaps for the second time: the rank's first answer counts */
    }
}

/* The rank has answered a CLOSE of the lost checkpoint. */
void CutProtocol::closed_before_the_loss(Rank &rank, Time now)
{
    rank.used = rank.complete = 0;
    examine_logs(now);
}

void CutProtocol::settled(Time now)
{
    times_.total = seconds(now - requested_at_);
    settling_ = false;
    phase_ = Phase::idle;
    actions_.push_back(action::Settled{});
}

} // namespace ckpt
