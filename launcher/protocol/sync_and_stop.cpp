/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_and_stop.cpp - Plank's Sync-and-Stop (1993, section 2.4) for programs
 * whose collectives cannot be cut in two (docs/protocol.md, sections 4 to 6).
 *
 * The phases:
 *
 * ALIGN   The ranks agree on a cut of the collectives. Each communicator has a
 *         target, the largest number of collectives any member has left; ranks
 *         below it run until they reach it, none enters one beyond it.
 * STOP    All ranks stand still, but for those inside a collective that no
 *         member has left: these are saved as if they had not entered it. What
 *         was seen while ranks ran is looked at again; if it no longer holds,
 *         back to ALIGN.
 * DRAIN   Everyone takes the messages that are under way to it into its log,
 *         knowing from the senders' counts how many there are.
 * SAVE    Everyone describes itself; from here on nobody moves. Three times, if
 *         connections lead from rank to rank.
 * WRITE   The agents read the memory; each rank goes on when its own is read.
 * COMMIT  All pieces are safe; the manifest makes the checkpoint exist.
 * UNDO    Something failed after WRITE began: files are being removed.
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
 * Everyone has stopped, at places that may differ from those that were known
 * when STOP was sent. The clocks decide again; and a rank that stays inside a
 * collective cannot drain, so nothing may be under way to it.
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
    write_targets(clocks); /* what is up to them has to be complete */
    drain(now);
}

/* Ranks inside, to which a message is under way, must leave their collective
 * before the cut. True if there is such a rank. */
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

/* Back to ALIGN. A rank that is inside is not told: it holds and reports when
 * it has left, and may be aligned then. */
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
            /* One that was ready inside goes on inside. */
            if (rank.place != CKPT_PLACE_INSIDE) {
                rank.place = 0;
            }
            let_go(rank, now);
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
            ranks_[i].answered = true; /* nothing is under way to it */
            continue;
        }
        std::vector<std::uint64_t> expected;
        for (int peer = 0; peer < rank_count(); peer++) {
            expected.push_back(pages_.sent(peer, i));
        }
        actions_.push_back(action::SetExpected{i, std::move(expected)});
        send(i, CKPT_MSG_DRAIN, false);
    }
    proceed(now); /* all may be inside */
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
 * Threads stop when their rank describes itself, some ranks later than others:
 * only from then on nobody sends by way of a connection of the program's own.
 * So such ranks describe themselves once more, to see that nothing is on the
 * way any more; then what has been received is all there, for the last time.
 */
bool CutProtocol::must_save_again() const
{
    return times_saved_ < 3 &&
           std::any_of(ranks_.begin(), ranks_.end(),
                       [](const Rank &rank) { return rank.leads_out; });
}

/* All of them, as one may have both ends of what leads out of another. They
 * wait, so no signal is needed. */
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
        if (rank.leads_out && plan_.replayed >= 0) { /* what came back by it is not replayed */
            give_up(fmt::format("a rank has a connection of its own to another process, "
                                "perhaps to rank {}",
                                plan_.replayed),
                    now);
            return;
        }
        rank.answered = true;
        hold(rank, now);
        proceed(now);
    }
}

/* Goes on to the next phase when all have answered. If one left its collective
 * meanwhile, the others are let go only now: no rank is given two orders. */
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
 * That is safe: at the cut all channels are empty and no transfer has begun, so
 * the lower half of a rank that runs can reach a waiting rank's application
 * memory only after that rank's lower half has matched a message, and it does
 * not run. What the running rank sends stays in its own or the network's
 * buffers, which are no part of any image. Not so where ranks store into one
 * another's memory: these wait for each other.
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
            let_go(rank, now);
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
            let_go(rank, now); /* it stood still up to its end */
        }
        actions_.push_back(action::Kill{});
    }
    finish(true, now);
}

} // namespace ckpt
