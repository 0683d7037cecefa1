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
#include "agent/sync_and_stop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace ckpt
{

double SyncAndStop::seconds(Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

std::string SyncAndStop::text_of(const ckpt_message &message)
{
    return {message.text, strnlen(message.text, sizeof message.text)};
}

const char *phase_name(Phase phase)
{
    static const char *const names[] = {"running", "align", "stop", "drain",
                                        "save",    "open",  "cut",  "log",
                                        "write",   "commit", "undo"};
    return names[static_cast<int>(phase)];
}

SyncAndStop::SyncAndStop(int rank_count, const RankPages &pages,
                         Options options)
    : pages_(pages), options_(options), ranks_(rank_count)
{
}

std::vector<Action> SyncAndStop::take_actions()
{
    return std::exchange(actions_, {});
}

/* ---- Ranks come and go ------------------------------------------------- */

void SyncAndStop::hello(int rank)
{
    ranks_.at(rank) = {};
    ranks_[rank].presence = Presence::here;
}

void SyncAndStop::goodbye(int rank, Time now)
{
    ranks_.at(rank).presence = Presence::finished;
    if (phase_ != Phase::idle && is_needed(ranks_[rank])) {
        give_up(fmt::format("rank {} has called MPI_Finalize", rank), now);
    }
}

/* One whose memory is copied is not, unless it has messages to log. */
bool SyncAndStop::is_needed(const Rank &rank) const
{
    return !rank.captured || is_moving();
}

void SyncAndStop::gone(int rank, Time now)
{
    Rank &lost = ranks_.at(rank);
    bool finished = lost.presence == Presence::finished;

    lost.presence = finished ? Presence::finished : Presence::gone;
    if (phase_ != Phase::idle && !finished && is_needed(lost)) {
        give_up(fmt::format("rank {} has died", rank), now);
    }
}

int SyncAndStop::present() const
{
    return static_cast<int>(
        std::count_if(ranks_.begin(), ranks_.end(), [](const Rank &rank) {
            return rank.presence == Presence::here;
        }));
}

bool SyncAndStop::ending() const
{
    return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank &rank) {
        return rank.presence == Presence::finished ||
               rank.presence == Presence::gone;
    });
}

double SyncAndStop::elapsed(Time now) const
{
    return seconds(now - requested_at_);
}

std::string SyncAndStop::obstacle() const
{
    int begun = 0;

    for (int i = 0; i < rank_count(); i++) {
        if (ranks_[i].presence == Presence::finished) {
            return fmt::format("rank {} has already called MPI_Finalize", i);
        }
        if (ranks_[i].presence == Presence::gone) {
            return fmt::format("rank {} has died: the job is ending", i);
        }
        begun += ranks_[i].presence == Presence::here ? 1 : 0;
    }
    if (begun < rank_count()) {
        return fmt::format("the job is still starting: {} of {} ranks have "
                           "called MPI_Init",
                           begun, rank_count());
    }
    return {};
}

const char *SyncAndStop::state_name(int rank) const
{
    const Rank &r = ranks_.at(rank);

    if (r.presence != Presence::here) {
        static const char *const absent[] = {"starting", "", "finished", "gone"};
        return absent[static_cast<int>(r.presence)];
    }
    if (phase_ == Phase::idle || phase_ == Phase::undo || r.resumed) {
        return "running";
    }
    if (r.answered) {
        switch (phase_) {
        case Phase::stop:
            return "stopped";
        case Phase::drain:
            return "drained";
        case Phase::log:
            return "logged";
        default:
            return "ready";
        }
    }
    static const char *const places[] = {"running", "free", "gate", "inside",
                                         "wait"};
    return places[r.place <= CKPT_PLACE_WAIT ? r.place : 0];
}

bool SyncAndStop::stands_still(int rank) const
{
    return ranks_.at(rank).still_since.has_value();
}

/* ---- Common to all phases ---------------------------------------------- */

void SyncAndStop::enter(Phase phase, Time now)
{
    phase_ = phase;
    phase_began_ = now;
    for (Rank &rank : ranks_) {
        rank.answered = false;
    }
}

bool SyncAndStop::all_answered() const
{
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const Rank &rank) { return rank.answered; });
}

int SyncAndStop::ranks_done() const
{
    if (phase_ == Phase::align) {
        int aligned = 0;
        for (int i = 0; i < rank_count(); i++) {
            aligned += ranks_[i].reported &&
                               is_aligned(ranks_[i], pages_.clocks(i))
                           ? 1
                           : 0;
        }
        return aligned;
    }
    return static_cast<int>(
        std::count_if(ranks_.begin(), ranks_.end(), [this](const Rank &rank) {
            return phase_ == Phase::write ? rank.captured : rank.answered;
        }));
}

void SyncAndStop::send(int rank, ckpt_message_type type, bool signal,
                       std::uint64_t argument, std::string_view text)
{
    actions_.push_back(
        action::Send{rank, type, signal, argument, std::string(text)});
}

void SyncAndStop::hold(Rank &rank, Time now)
{
    rank.holds = true;
    if (!rank.still_since) {
        rank.still_since = now;
    }
}

void SyncAndStop::let_go(Rank &rank, Time now)
{
    rank.holds = false;
    if (rank.still_since) {
        times_.stop = std::max(times_.stop, seconds(now - *rank.still_since));
        rank.still_since.reset();
    }
}

void SyncAndStop::set_place(Rank &rank, const ckpt_message &message, Time now)
{
    rank.place = static_cast<std::uint32_t>(message.arg[0]);
    rank.slot = static_cast<std::uint32_t>(message.arg[1]);
    rank.flags = static_cast<std::uint32_t>(message.arg[2]);
    if (message.arg[3] != 0) {
        hold(rank, now);
    } else {
        let_go(rank, now);
    }
}

void SyncAndStop::request(std::uint64_t epoch, bool kill, Time now, bool moving)
{
    assert(phase_ == Phase::idle && obstacle().empty());

    epoch_ = epoch;
    kill_ = kill;
    left_early_ = false;
    moving_ = moving && !kill;
    moved_ = closing_ = may_retry_ = false;
    log_ = {};
    targets_.clear();
    fingerprint_.clear();
    reason_.clear();
    times_ = {};
    requested_at_ = still_since_ = now;
    enter(Phase::align, now);
    for (int i = 0; i < rank_count(); i++) {
        ranks_[i] = {};
        ranks_[i].presence = Presence::here;
        /* The gate is closed for everything until the targets are known. */
        actions_.push_back(action::SetTargets{
            i, std::vector<std::uint64_t>(pages_.clocks(i).size(), 0)});
        send(i, CKPT_MSG_REQUEST, true, moving_ ? 1 : 0);
    }
}

std::optional<SyncAndStop::Time> SyncAndStop::deadline() const
{
    if (phase_ == Phase::idle || phase_ == Phase::commit ||
        phase_ == Phase::undo) {
        return {}; /* what is whole is not given up for being late */
    }
    return requested_at_ + options_.timeout;
}

void SyncAndStop::tick(Time now)
{
    if (deadline() && now >= *deadline()) {
        give_up(fmt::format("not done after {:.0f} s: {} of {} ranks were "
                            "through with phase {}",
                            seconds(options_.timeout), ranks_done(),
                            rank_count(), phase_name(phase_)),
                now);
    } else if (phase_ == Phase::align) {
        align(now);
    } else if (phase_ == Phase::cut || phase_ == Phase::log) {
        kick(now);
    }
}

/*
 * Messages of a rank arrive in the order in which it sent them, and each phase
 * begins when all ranks have answered the one before: so an answer that comes
 * before its rank was asked again belongs to a round that was broken off, and
 * is dropped.
 */
void SyncAndStop::message(int rank, const ckpt_message &message, Time now)
{
    if (phase_ == Phase::idle || phase_ == Phase::undo ||
        message.epoch != epoch_) {
        return; /* to a checkpoint that has been given up */
    }
    Rank &sender = ranks_.at(rank);
    switch (message.type) {
    case CKPT_MSG_REPORT:
        on_report(sender, message, now);
        break;
    case CKPT_MSG_STOPPED:
        on_stopped(sender, message, now);
        break;
    case CKPT_MSG_DRAINED:
        on_drained(sender, now);
        break;
    case CKPT_MSG_READY:
        if (phase_ == Phase::cut) {
            on_cut(rank, message, now);
        } else {
            on_ready(sender, message, now);
        }
        break;
    case CKPT_MSG_COMPLETE:
        on_complete(sender, message, now);
        break;
    case CKPT_MSG_LOGGED:
        on_logged(rank, message, now);
        break;
    case CKPT_MSG_REFUSED:
        if (phase_ == Phase::cut) {
            on_cut(rank, message, now);
            break;
        }
        if (phase_ == Phase::log) {
            on_logged(rank, message, now);
            break;
        }
        give_up(fmt::format("rank {}: {}", rank, text_of(message)), now);
        break;
    default:
        break;
    }
}

/* ---- ALIGN: sync_and_stop_align.cpp -------------------------------------- */

void SyncAndStop::on_report(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ >= Phase::open) {
        return;
    }
    rank.needs |= message.arg[5];
    if (message.arg[0] == CKPT_PLACE_GATE && message.arg[3] == 0) {
        rank.gates[static_cast<std::uint32_t>(message.arg[1])] = message.arg[4];
        return; /* one of its threads; what the rank does is told apart */
    }
    if (phase_ == Phase::stop && rank.answered && message.arg[3] == 0 &&
        message.arg[0] != CKPT_PLACE_INSIDE) {
        return; /* one of its threads; another one is still inside */
    }
    set_place(rank, message, now);
    rank.reported = true;
    if (phase_ == Phase::align) {
        align(now);
    } else if (phase_ == Phase::drain || phase_ == Phase::save) {
        left_early_ = true; /* it was inside, and has left */
        rank.answered = true;
        proceed(now);
    } /* in STOP, its STOPPED is to come, or it left after that: examined later */
}

/* ---- STOP --------------------------------------------------------------- */

void SyncAndStop::stop(Time now)
{
    enter(Phase::stop, now);
    for (int i = 0; i < rank_count(); i++) {
        send(i, CKPT_MSG_STOP, true);
    }
}

void SyncAndStop::on_stopped(Rank &rank, const ckpt_message &message, Time now)
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
void SyncAndStop::examine_stopped(Time now)
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
bool SyncAndStop::raise_for_messages_in_flight(const Clocks &clocks)
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
void SyncAndStop::realign(Time now)
{
    enter(Phase::align, now);
    left_early_ = false;
    still_since_ = now;
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

void SyncAndStop::drain(Time now)
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

void SyncAndStop::on_drained(Rank &rank, Time now)
{
    if (phase_ == Phase::drain && !rank.answered) {
        rank.answered = true;
        proceed(now);
    }
}

void SyncAndStop::save(Time now)
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
bool SyncAndStop::must_save_again() const
{
    return times_saved_ < 3 &&
           std::any_of(ranks_.begin(), ranks_.end(),
                       [](const Rank &rank) { return rank.leads_out; });
}

/* All of them, as one may have both ends of what leads out of another. They
 * wait, so no signal is needed. */
void SyncAndStop::save_again(Time now)
{
    times_saved_++;
    enter(Phase::save, now);
    for (int i = 0; i < rank_count(); i++) {
        send(i, CKPT_MSG_SAVE, false);
    }
}

void SyncAndStop::on_ready(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ == Phase::save && !rank.answered) {
        rank.snapshot = message.arg[0];
        rank.shared = (message.arg[1] & CKPT_READY_SHARED) != 0;
        rank.leads_out = (message.arg[1] & CKPT_READY_LEADS_OUT) != 0;
        rank.answered = true;
        hold(rank, now);
        proceed(now);
    }
}

/* Goes on to the next phase when all have answered. If one left its collective
 * meanwhile, the others are let go only now: no rank is given two orders. */
void SyncAndStop::proceed(Time now)
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

void SyncAndStop::write(Time now)
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
void SyncAndStop::captured(int rank, Time now)
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

void SyncAndStop::resume_captured(Time now)
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

void SyncAndStop::written()
{
    if (phase_ == Phase::write) {
        phase_ = Phase::commit;
        actions_.push_back(action::Commit{});
    }
}

void SyncAndStop::committed(Time now)
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

/* ---- The end ------------------------------------------------------------ */

void SyncAndStop::failed(std::string_view reason, Time now)
{
    if (phase_ == Phase::cut || phase_ == Phase::log) {
        doom(std::string(reason));
        examine_logs(now);
    } else if (phase_ != Phase::idle && phase_ != Phase::undo) {
        give_up(std::string(reason), now);
    }
}

/* The job goes on, whatever happened. */
void SyncAndStop::give_up(std::string reason, Time now)
{
    if (phase_ == Phase::undo) {
        return;
    }
    for (int i = 0; i < rank_count(); i++) {
        Rank &rank = ranks_[i];
        if (rank.presence == Presence::here && !rank.resumed) {
            let_go(rank, now);
            send(i, CKPT_MSG_RESUME, false, 1, reason);
        }
    }
    reason_ = std::move(reason);
    if (phase_ >= Phase::open) {
        phase_ = Phase::undo;
        actions_.push_back(action::Undo{});
    } else {
        finish(false, now);
    }
}

void SyncAndStop::undone(Time now)
{
    if (phase_ == Phase::undo) {
        finish(false, now);
    }
}

void SyncAndStop::finish(bool committed, Time now)
{
    times_.total = seconds(now - requested_at_);
    phase_ = Phase::idle;
    actions_.push_back(action::Finish{committed, reason_, may_retry_});
}

} // namespace ckpt
