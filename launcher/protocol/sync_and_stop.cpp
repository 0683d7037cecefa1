/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_and_stop.cpp - Plank's Sync-and-Stop (1993, section 2.4) for programs
 * whose collectives cannot be cut in two (docs/protocol.md, sections 4 to 6).
 *
 * The phases:
 *
 * ALIGN   The ranks agree on a cut of the collectives. Each communicator has a
 *         target, the largest number of collectives that any member has left. Ranks
 *         below it run until they reach it; no rank enters a collective beyond it.
 * STOP    All ranks stop, except those inside a collective that no member has
 *         left: these are saved as if they had not entered it. The coordinator
 *         examines again what it saw while ranks ran. If that no longer holds, it
 *         goes back to ALIGN.
 * DRAIN   Each rank takes the messages that are in flight to it into its log. The
 *         senders' counts say how many there are.
 * SAVE    Each rank describes itself; from here on no rank moves. Three times, if
 *         connections lead from rank to rank.
 * WRITE   The agents read the memory; each rank goes on when its own is read.
 * COMMIT  All pieces are on disk; the manifest makes the checkpoint exist.
 * UNDO    Something failed after WRITE began: the agents remove the files.
 */
#include "protocol/cut_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ckpt
{

/* ---- STOP --------------------------------------------------------------- */

void CutProtocol::stop(Time now)
{
    enter(Phase::stop, now);
    for (int i = 0; i < rank_count(); i++) {
        send(i, CKPT_MSG_STOP, true);
    }
}

void CutProtocol::on_stopped(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ != Phase::stop || rank.answered) {
        return;
    }
    set_place(rank, message, now);
    if (rank.place != CKPT_PLACE_INSIDE) {
        hold(rank, now);
    }
    rank.answered = true;
    proceed(now);
}

/*
 * All ranks have stopped, perhaps at other places than those known when STOP
 * was sent. So the clocks are examined again. A rank that stays inside a
 * collective cannot drain, so no message may be in flight to it.
 */
void CutProtocol::examine_stopped(Time now)
{
    Clocks clocks = read_clocks();

    raise_targets(clocks);
    if (!all_aligned(clocks) || raise_for_messages_in_flight(clocks)) {
        realign(now);
        return;
    }
    times_.request_to_stop = seconds(now - requested_at_);
    write_targets(clocks); /* all collectives up to the targets have to be complete */
    drain(now);
}

/* Makes ranks inside a collective leave it before the cut if a message is in
 * flight to them. Returns whether there is such a rank. */
bool CutProtocol::raise_for_messages_in_flight(const Clocks &clocks)
{
    bool any = false;

    for (int i = 0; i < rank_count(); i++) {
        const Rank &rank = ranks_[i];
        if (rank.place != CKPT_PLACE_INSIDE) {
            continue;
        }
        bool in_flight = false;
        for (int peer = 0; peer < rank_count(); peer++) {
            in_flight = in_flight ||
                        pages_.sent(peer, i) != pages_.received(i, peer);
        }
        if (in_flight) {
            const ckpt_clock &clock = clocks[i][rank.slot];
            std::uint64_t &target = targets_[clock.id];
            target = std::max(target, clock.entered);
            any = true;
        }
    }
    return any;
}

/* Goes back to ALIGN. A rank that is inside gets no message: it holds and
 * reports when it has left, and may be aligned then. */
void CutProtocol::realign(Time now)
{
    enter(Phase::align, now);
    left_early_ = false;
    began_to_be_still(now);
    Clocks clocks = read_clocks();
    raise_targets(clocks);
    write_targets(clocks);
    for (int i = 0; i < rank_count(); i++) {
        Rank &rank = ranks_[i];
        if (rank.holds) {
            /* a rank that was ready inside goes on inside */
            if (rank.place != CKPT_PLACE_INSIDE) {
                rank.place = 0;
            }
            let_continue(rank, now);
            send(i, CKPT_MSG_RUN, false);
        }
    }
}

/* ---- DRAIN, SAVE -------------------------------------------------------- */

void CutProtocol::drain(Time now)
{
    enter(Phase::drain, now);
    for (int i = 0; i < rank_count(); i++) {
        if (ranks_[i].place == CKPT_PLACE_INSIDE) {
            ranks_[i].answered = true; /* no message is in flight to it */
            continue;
        }
        std::vector<std::uint64_t> expected;
        for (int peer = 0; peer < rank_count(); peer++) {
            expected.push_back(pages_.sent(peer, i));
        }
        actions_.push_back(action::SetExpected{i, std::move(expected)});
        send(i, CKPT_MSG_DRAIN, false);
    }
    proceed(now); /* all ranks may be inside */
}

void CutProtocol::on_drained(Rank &rank, Time now)
{
    if (phase_ == Phase::drain && !rank.answered) {
        rank.answered = true;
        proceed(now);
    }
}

void CutProtocol::save(Time now)
{
    times_.drain = seconds(now - phase_began_);
    times_saved_ = 1;
    enter(Phase::save, now);
    for (int i = 0; i < rank_count(); i++) {
        send(i, CKPT_MSG_SAVE, ranks_[i].place == CKPT_PLACE_INSIDE);
    }
}

/*
 * A rank's threads stop when the rank describes itself, in some ranks later
 * than in others. Only after the last one does no rank send over the program's
 * own connections. So such ranks describe themselves again, to check that
 * nothing is in flight any more. Then everything sent has been received, and
 * they describe themselves for the last time.
 */
bool CutProtocol::must_save_again() const
{
    return times_saved_ < 3 &&
           std::any_of(ranks_.begin(), ranks_.end(),
                       [](const Rank &rank) { return rank.leads_out; });
}

/* Asks all ranks, as one rank may have both ends of another rank's
 * connection. They wait, so no signal is needed. */
void CutProtocol::save_again(Time now)
{
    times_saved_++;
    enter(Phase::save, now);
    for (int i = 0; i < rank_count(); i++) {
        send(i, CKPT_MSG_SAVE, false);
    }
}

void CutProtocol::on_ready(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ == Phase::save && !rank.answered) {
        rank.snapshot = message.arg[0];
        rank.shared = (message.arg[1] & CKPT_READY_SHARED) != 0;
        rank.leads_out = (message.arg[1] & CKPT_READY_LEADS_OUT) != 0;
        if (rank.leads_out && plan_.replayed >= 0) { /* a reply over the connection is not
                                                        replayed */
            give_up(refusal(CKPT_REFUSAL_NOT_REPLAYABLE,
                            "a rank has a connection of its own to another process, perhaps to "
                            "rank {}",
                            plan_.replayed),
                    now);
            return;
        }
        rank.answered = true;
        hold(rank, now);
        proceed(now);
    }
}

/* Goes on to the next phase when all ranks have answered. If a rank has left
 * its collective meanwhile, the others may go on only now, so that no rank
 * gets two orders. */
void CutProtocol::proceed(Time now)
{
    if (!all_answered()) {
        return;
    }
    if (left_early_) {
        realign(now);
    } else if (phase_ == Phase::stop) {
        examine_stopped(now);
    } else if (phase_ == Phase::drain) {
        save(now);
    } else if (must_save_again()) {
        save_again(now);
    } else {
        write(now);
    }
}

/* ---- WRITE, COMMIT ------------------------------------------------------ */

void CutProtocol::write(Time now)
{
    action::Capture capture;

    for (const Rank &rank : ranks_) {
        capture.snapshots.push_back(rank.snapshot);
    }
    enter(Phase::write, now);
    actions_.push_back(std::move(capture));
}

/*
 * A rank goes on as soon as its own memory is copied, while others still wait.
 * This is safe: at the cut all channels are empty and no transfer has begun.
 * The lower half of a running rank reaches a waiting rank's application memory
 * only after the waiting rank's lower half has matched a message. That lower
 * half does not run. Messages of the running rank stay in its own or the
 * network's buffers, which belong to no image. Ranks that store into each
 * other's memory are different: these wait for each other.
 */
void CutProtocol::captured(int rank, Time now)
{
    if (phase_ == Phase::cut) {
        captured_moving(rank, now);
        return;
    }
    if (phase_ != Phase::write) {
        return;
    }
    ranks_.at(rank).captured = true;
    if (!kill_) {
        resume_captured(now);
    }
    bool all = std::all_of(ranks_.begin(), ranks_.end(),
                           [](const Rank &r) { return r.captured; });
    if (all) {
        times_.capture = seconds(now - phase_began_);
        phase_began_ = now;
    }
}

void CutProtocol::resume_captured(Time now)
{
    bool sharing_wait =
        std::any_of(ranks_.begin(), ranks_.end(), [](const Rank &rank) {
            return rank.shared && !rank.captured;
        });

    for (int i = 0; i < rank_count(); i++) {
        Rank &rank = ranks_[i];
        if (rank.captured && !rank.resumed && !(rank.shared && sharing_wait)) {
            rank.resumed = true;
            let_continue(rank, now);
            send(i, CKPT_MSG_RESUME, false, 0);
        }
    }
}

void CutProtocol::written()
{
    if (phase_ == Phase::write) {
        phase_ = Phase::commit;
        actions_.push_back(action::Commit{});
    }
}

void CutProtocol::committed(Time now)
{
    if (phase_ != Phase::commit) {
        return;
    }
    times_.commit = seconds(now - phase_began_);
    if (kill_) {
        for (Rank &rank : ranks_) {
            let_continue(rank, now); /* it was stopped until its end */
        }
        actions_.push_back(action::Kill{});
    }
    finish(true, now);
}

} // namespace ckpt
