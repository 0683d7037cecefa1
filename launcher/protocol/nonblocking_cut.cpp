/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking_cut.cpp - Chandy-Lamport and network sweeping (Plank 1993, sections 2.5 and 2.6) for
 * ranks that are aligned (docs/consistent-cuts.md, section 1).
 *
 * OPEN    The agents make the checkpoint's directory; ranks run, behind closed gates.
 * CUT     Each rank changes its colour, is saved, and runs on.
 * LOG     The ranks log messages that cross the cut, until the numbers of channels
 *         used and of channels complete are equal. Then the checkpoint is over for
 *         the ranks, which close their logs.
 *
 * After the first cut, the ranks cannot go back to the old colour. So a checkpoint that is given up
 * still goes on to the end of LOG, but nothing is kept.
 */
#include "protocol/cut_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt
{

/* Whether ranks run on. Ranks that will be killed are stopped until then. */
bool CutProtocol::is_to_move() const
{
    return plan_.protocol != Protocol::sync_and_stop && !kill_;
}

bool CutProtocol::may_move() const
{
    return is_to_move() &&
           std::all_of(ranks_.begin(), ranks_.end(),
                       [](const Rank &rank) { return rank.needs == 0; });
}

void CutProtocol::open(Time now)
{
    times_.request_to_stop = seconds(now - requested_at_);
    moved_ = true;
    quiet_ = std::none_of(ranks_.begin(), ranks_.end(),
                          [](const Rank &rank) { return rank.has_sent; });
    enter(Phase::open, now);
    actions_.push_back(action::OpenPieces{});
}

void CutProtocol::opened(Time now)
{
    if (phase_ == Phase::open) {
        cut(now);
    }
}

void CutProtocol::cut(Time now)
{
    enter(Phase::cut, now);
    waiting_at_cut_ = static_cast<int>(
        std::count_if(ranks_.begin(), ranks_.end(), waits));
    if (plan_.lanes.empty()) {
        cut_rest(now);
        return;
    }
    for (const std::vector<int> &lane : plan_.lanes) {
        cut_next(lane, now);
    }
}

bool CutProtocol::waits(const Rank &rank)
{
    return rank.place == CKPT_PLACE_GATE || rank.place == CKPT_PLACE_WAIT;
}

void CutProtocol::order_cut(int rank, Time now)
{
    /* unknown after the loss of an agent */
    const bool synchronous = settling_ || any_synchronous();

    ranks_[rank].asked_at = now;
    send(rank, CKPT_MSG_CUT, true,
         kind_of_cut() | (synchronous ? CKPT_CUT_SYNCHRONOUS : 0));
}

/* The ranks of a program that communicates by collectives alone need no counts. */
ckpt_cut CutProtocol::kind_of_cut() const
{
    if (quiet_) {
        return CKPT_CUT_QUIET;
    }
    return plan_.protocol == Protocol::network_sweep ? CKPT_CUT_SWEEP
                                                     : CKPT_CUT_MARKERS;
}

/*
 * Staggered (Plank 1993, section 3.4): cuts the next rank of a lane. First come ranks that wait
 * anyway, for a message or before a collective, perhaps for ranks that have been cut. In Plank's
 * algorithm, markers make ranks take their cuts; here they do not. No rank receives a message of
 * the new colour before its own cut, so no rank has to hurry.
 */
void CutProtocol::cut_next(const std::vector<int> &lane, Time now)
{
    auto is_left = [this](int rank) { return !ranks_[rank].asked_at; };
    auto goes_first = [&](int rank) {
        return is_left(rank) && waits(ranks_[rank]);
    };
    auto next = std::find_if(lane.begin(), lane.end(), goes_first);

    if (next == lane.end()) {
        next = std::find_if(lane.begin(), lane.end(), is_left);
    }
    if (next != lane.end()) {
        order_cut(*next, now);
    }
}

/* Cuts the next rank of this rank's lane. */
void CutProtocol::cut_after(int rank, Time now)
{
    for (const std::vector<int> &lane : plan_.lanes) {
        if (std::find(lane.begin(), lane.end(), rank) != lane.end()) {
            cut_next(lane, now);
        }
    }
}

/* A rank that does not answer may be inside a call that waits for another rank of its lane. So
 * the next rank gets its turn. */
void CutProtocol::pass_turns(Time now)
{
    for (int i = 0; i < rank_count() && !plan_.lanes.empty(); i++) {
        Rank &rank = ranks_[i];
        if (rank.asked_at && !rank.answered &&
            now - *rank.asked_at >= options_.turn) {
            rank.asked_at = now;
            cut_after(i, now);
        }
    }
}

void CutProtocol::cut_rest(Time now)
{
    for (int i = 0; i < rank_count(); i++) {
        if (!ranks_[i].asked_at) {
            order_cut(i, now);
        }
    }
}

void CutProtocol::sweep_failed()
{
    swept_ = false;
    if (phase_ == Phase::log && !closing_) {
        tell_counts();
    }
}

/* A rank has made its cut, with or without an image. The cut cannot be undone. */
void CutProtocol::on_cut(int rank, const ckpt_message &message, Time now)
{
    Rank &sender = ranks_[rank];

    if (sender.answered) {
        return;
    }
    sender.answered = true;
    sender.used = settling_ ? 1 : message.arg[2];
    if (message.type == CKPT_MSG_REFUSED) {
        may_retry_ = true;
        mark_failed(refusal_by(rank, message));
    } else if ((message.arg[1] & (CKPT_READY_SHARED | CKPT_READY_LEADS_OUT)) != 0) {
        may_retry_ = true;
        mark_failed(refusal(CKPT_REFUSAL_NEEDS_STOP,
                            "rank {} shares memory or connections with others", rank));
    }
    hold(sender, now);
    if (reason_.empty()) {
        actions_.push_back(action::AddToPiece{rank, message.arg[0]});
    } else {
        release(sender, rank, now);
    }
    examine_logs(now);
}

void CutProtocol::release(Rank &rank, int number, Time now)
{
    rank.resumed = true;
    let_continue(rank, now);
    send(number, CKPT_MSG_RESUME, false, outcome(), reason_.text());
    if (phase_ == Phase::cut) {
        cut_after(number, now);
    }
}

ckpt_outcome CutProtocol::outcome() const
{
    return reason_.empty() ? CKPT_CAPTURED : CKPT_GIVEN_UP;
}

void CutProtocol::captured_moving(int rank, Time now)
{
    ranks_[rank].captured = true;
    if (!ranks_[rank].resumed) {
        release(ranks_[rank], rank, now);
    }
    examine_logs(now);
}

/* Marks the checkpoint as failed; the ranks go on. */
void CutProtocol::mark_failed(Refusal reason)
{
    if (reason_.empty()) {
        reason_ = std::move(reason);
    }
}

void CutProtocol::release_failed(Time now)
{
    for (int i = 0; i < rank_count(); i++) {
        if (ranks_[i].answered && !ranks_[i].resumed) {
            release(ranks_[i], i, now);
        }
    }
}

/* Goes on when all ranks have been cut, run again, and have all messages that they lacked. */
void CutProtocol::examine_logs(Time now)
{
    std::uint64_t used = 0, complete = 0;

    if (phase_ == Phase::cut && !reason_.empty()) {
        release_failed(now);
        cut_rest(now); /* no rank is saved any more */
    }
    if (phase_ == Phase::cut && all_answered() &&
        std::all_of(ranks_.begin(), ranks_.end(),
                    [](const Rank &rank) { return rank.resumed; })) {
        times_.capture = seconds(now - phase_began_);
        enter(Phase::log, now);
        examine_quiet();
        if (must_tell_counts()) {
            tell_counts();
        }
    }
    if (phase_ != Phase::log || closing_) {
        return;
    }
    for (const Rank &rank : ranks_) {
        used += rank.used;
        complete += rank.complete;
    }
    if (quiet_ || used == complete) {
        close_logs(now);
    }
}

/* Whether the coordinator tells all ranks the counts. A rank that was cut inside a collective
 * sends no markers before it has left, and others may need its counts to enter. */
bool CutProtocol::must_tell_counts() const
{
    return !quiet_ && (plan_.protocol == Protocol::chandy_lamport || !swept_);
}

/* A rank may have sent a message after all, between its report and its cut. */
void CutProtocol::examine_quiet()
{
    if (quiet_ && std::any_of(ranks_.begin(), ranks_.end(),
                              [](const Rank &rank) { return rank.used != 0; })) {
        quiet_ = swept_ = false;
        for (Rank &rank : ranks_) {
            rank.used = 1;
        }
    }
}

void CutProtocol::tell_counts()
{
    for (int i = 0; i < rank_count(); i++) {
        std::vector<std::uint64_t> expected;
        for (int peer = 0; peer < rank_count(); peer++) {
            expected.push_back(pages_.sent(peer, i));
        }
        actions_.push_back(action::SetExpected{i, std::move(expected)});
        send(i, CKPT_MSG_COUNTS, true);
    }
}

void CutProtocol::close_logs(Time now)
{
    closing_ = true;
    for (int i = 0; i < rank_count(); i++) {
        ranks_[i].answered = !ranks_[i].watch.cut().open;
        send(i, CKPT_MSG_CLOSE, true, outcome(), reason_.text());
    }
    all_logged(now); /* an agent may have been lost while logs were being closed */
}

void CutProtocol::on_complete(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ == Phase::cut || phase_ == Phase::log) {
        rank.complete = message.arg[settling_ ? 1 : 0];
        examine_logs(now);
    }
}

void CutProtocol::on_logged(int rank, const ckpt_message &message, Time now)
{
    if (phase_ != Phase::log || !closing_ || ranks_[rank].answered) {
        return;
    }
    ranks_[rank].answered = true;
    if (message.type == CKPT_MSG_REFUSED) {
        mark_failed(refusal_by(rank, message));
    } else {
        log_.messages += message.arg[0];
        log_.bytes += message.arg[1];
    }
    all_logged(now);
}

void CutProtocol::all_logged(Time now)
{
    if (!all_answered()) {
        return;
    }
    times_.drain = seconds(now - phase_began_);
    if (settling_) {
        settled(now);
    } else if (!reason_.empty()) {
        phase_ = Phase::undo;
        actions_.push_back(action::Undo{});
    } else {
        enter(Phase::write, now);
        actions_.push_back(action::ClosePieces{});
    }
}

/* Reminds ranks that compute, or wait for something else: they have to receive, or to complete
 * sends that they have begun. Ranks whose turn has not come are reminded as well, as a
 * nonblocking collective may need them to complete. */
void CutProtocol::remind(Time now)
{
    if (now - last_reminder_ < options_.reminder) {
        return;
    }
    last_reminder_ = now;
    for (int i = 0; i < rank_count(); i++) {
        if (ranks_[i].resumed || !ranks_[i].asked_at) {
            send(i, CKPT_MSG_PROGRESS, true);
        }
    }
}

} // namespace ckpt
