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
 * SAVE    Everyone describes itself; from here on nobody moves.
 * WRITE   The agents read the memory; each rank goes on when its own is read.
 * COMMIT  All pieces are safe; the manifest makes the checkpoint exist.
 * UNDO    Something failed after WRITE began: files are being removed.
 */
#include "agent/sync_and_stop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

namespace ckpt
{

namespace
{

double seconds(SyncAndStop::Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

std::string text_of(const ckpt_message &message)
{
    return {message.text, strnlen(message.text, sizeof message.text)};
}

} // namespace

const char *phase_name(Phase phase)
{
    static const char *const names[] = {"running", "align", "stop",   "drain",
                                        "save",    "write", "commit", "undo"};
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
    if (phase_ != Phase::idle && !ranks_[rank].captured) {
        give_up(fmt::format("rank {} has called MPI_Finalize", rank), now);
    }
}

void SyncAndStop::gone(int rank, Time now)
{
    Rank &lost = ranks_.at(rank);
    bool finished = lost.presence == Presence::finished;

    lost.presence = finished ? Presence::finished : Presence::gone;
    /* One whose memory is already copied is not needed any more. */
    if (phase_ != Phase::idle && !finished && !lost.captured) {
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
    if (phase_ == Phase::idle || phase_ == Phase::undo || r.captured) {
        return "running";
    }
    if (r.answered) {
        switch (phase_) {
        case Phase::stop:
            return "stopped";
        case Phase::drain:
            return "drained";
        default:
            return "ready";
        }
    }
    static const char *const places[] = {"running", "free", "gate", "inside",
                                         "wait"};
    return places[r.place <= CKPT_PLACE_WAIT ? r.place : 0];
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

void SyncAndStop::request(std::uint64_t epoch, bool kill, Time now)
{
    assert(phase_ == Phase::idle && obstacle().empty());

    epoch_ = epoch;
    kill_ = kill;
    left_early_ = false;
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
        send(i, CKPT_MSG_REQUEST, true);
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
        on_ready(sender, message, now);
        break;
    case CKPT_MSG_REFUSED:
        give_up(fmt::format("rank {}: {}", rank, text_of(message)), now);
        break;
    default:
        break;
    }
}

/* ---- ALIGN -------------------------------------------------------------- */

SyncAndStop::Clocks SyncAndStop::read_clocks() const
{
    Clocks clocks;

    clocks.reserve(ranks_.size());
    for (int i = 0; i < rank_count(); i++) {
        clocks.push_back(pages_.clocks(i));
    }
    return clocks;
}

std::uint64_t SyncAndStop::target(std::uint64_t id) const
{
    auto found = targets_.find(id);
    return found == targets_.end() ? 0 : found->second;
}

bool SyncAndStop::inside_unclocked(const Rank &rank) const
{
    return rank.place == CKPT_PLACE_INSIDE &&
           (rank.flags & CKPT_INSIDE_CLOCKED) == 0;
}

bool SyncAndStop::may_be_redone(const Rank &rank, std::size_t slot) const
{
    return rank.place == CKPT_PLACE_INSIDE && rank.slot == slot &&
           (rank.flags & CKPT_INSIDE_CLOCKED) != 0 &&
           (rank.flags & CKPT_INSIDE_REDO) != 0;
}

/*
 * A collective that a rank has left must be left by all members before the
 * cut; so must one that a rank is in and cannot enter again after a restart.
 * Targets never fall: a member may have freed the communicator meanwhile.
 */
void SyncAndStop::raise_targets(const Clocks &clocks)
{
    for (std::size_t i = 0; i < ranks_.size(); i++) {
        for (std::size_t slot = 0; slot < clocks[i].size(); slot++) {
            const ckpt_clock &clock = clocks[i][slot];
            if (clock.id != 0) {
                std::uint64_t least =
                    clock.entered > clock.left && !may_be_redone(ranks_[i], slot)
                        ? clock.entered
                        : clock.left;
                std::uint64_t &target = targets_[clock.id];
                target = std::max(target, least);
            }
        }
    }
}

bool SyncAndStop::is_aligned(const Rank &rank,
                             const std::vector<ckpt_clock> &clocks) const
{
    if (inside_unclocked(rank)) {
        return false;
    }
    return std::all_of(
        clocks.begin(), clocks.end(), [this](const ckpt_clock &clock) {
            return clock.id == 0 || clock.left >= target(clock.id);
        });
}

bool SyncAndStop::all_aligned(const Clocks &clocks) const
{
    for (std::size_t i = 0; i < ranks_.size(); i++) {
        if (!is_aligned(ranks_[i], clocks[i])) {
            return false;
        }
    }
    return true;
}

void SyncAndStop::write_targets(const Clocks &clocks)
{
    for (int i = 0; i < rank_count(); i++) {
        std::vector<std::uint64_t> targets;
        bool changed = false;
        for (const ckpt_clock &clock : clocks[i]) {
            targets.push_back(clock.id == 0 ? 0 : target(clock.id));
            changed = changed || clock.target != targets.back();
        }
        if (changed) {
            actions_.push_back(action::SetTargets{i, std::move(targets)});
        }
    }
}

/* Looks at all ranks: goes on to STOP, or lets run who has to run. */
void SyncAndStop::align(Time now)
{
    bool all_reported =
        std::all_of(ranks_.begin(), ranks_.end(),
                    [](const Rank &rank) { return rank.reported; });
    if (!all_reported) {
        return; /* a target is worth nothing before all clocks are known */
    }

    Clocks clocks = read_clocks();
    raise_targets(clocks);
    if (all_aligned(clocks)) {
        stop(now);
        return;
    }
    if (has_moved(clocks)) {
        still_since_ = now;
    }
    write_targets(clocks);
    run_those_who_may(clocks, now);
    break_stall(clocks, now);
}

/* Whether the gate at which a rank waits is open for it. */
bool SyncAndStop::opened(const Rank &rank,
                         const std::vector<ckpt_clock> &clocks) const
{
    return rank.slot < clocks.size() &&
           clocks[rank.slot].entered < target(clocks[rank.slot].id);
}

void SyncAndStop::run_those_who_may(const Clocks &clocks, Time now)
{
    for (int i = 0; i < rank_count(); i++) {
        Rank &rank = ranks_[i];
        bool shut =
            rank.place == CKPT_PLACE_GATE && !opened(rank, clocks[i]);
        if (rank.holds && !shut) {
            rank.place = 0;
            let_go(rank, now);
            send(i, CKPT_MSG_RUN, false);
        }
    }
}

/* Whether a rank or a clock differs from what the last call saw. */
bool SyncAndStop::has_moved(const Clocks &clocks)
{
    std::vector<std::uint64_t> fingerprint;

    for (std::size_t i = 0; i < ranks_.size(); i++) {
        const Rank &rank = ranks_[i];
        fingerprint.push_back(rank.place * 2 + (rank.holds ? 1 : 0));
        for (const ckpt_clock &clock : clocks[i]) {
            fingerprint.push_back(clock.entered);
            fingerprint.push_back(clock.left);
        }
    }
    return std::exchange(fingerprint_, fingerprint) != fingerprint;
}

/*
 * Whether a rank may go on without the help of ranks that are at a gate.
 * slowest: by clock id, the fewest collectives any member has entered. One that
 * is inside a collective leaves by itself once every member has entered.
 */
bool SyncAndStop::can_move(
    const Rank &rank, const std::vector<ckpt_clock> &clocks,
    const std::map<std::uint64_t, std::uint64_t> &slowest) const
{
    for (const ckpt_clock &clock : clocks) {
        if (clock.id != 0 && clock.entered > clock.left) {
            return slowest.at(clock.id) >= clock.entered;
        }
    }
    return rank.place != CKPT_PLACE_GATE && rank.place != CKPT_PLACE_WAIT &&
           rank.place != CKPT_PLACE_INSIDE;
}

/*
 * The targets may ask for the impossible: rank A has to reach a collective, for
 * which it needs a message that rank B sends only after a collective beyond its
 * own target. Then everyone is at a gate, inside or waiting; the gates are
 * opened by one collective, which also raises the target for the other members.
 *
 * A gate of a communicator some member of which is still below the target stays
 * shut: in a correct program nobody's progress depends on it, because the call
 * behind it might have had to wait for that member (MPI 4.1, section 6.14).
 * So each round brings the lagging ranks nearer to their targets without moving
 * these, and as what happens before a collective is finite, it ends. A message
 * wait that would have ended by itself looks the same; the patience makes that
 * rare, and a needless round costs one collective. A program that does rely on
 * collectives not to synchronise is helped after the long patience.
 */
void SyncAndStop::break_stall(const Clocks &clocks, Time now)
{
    std::map<std::uint64_t, std::uint64_t> slowest;
    for (const auto &clocks_of_rank : clocks) {
        for (const ckpt_clock &clock : clocks_of_rank) {
            auto entry = slowest.emplace(clock.id, clock.entered).first;
            entry->second = std::min(entry->second, clock.entered);
        }
    }
    for (int i = 0; i < rank_count(); i++) {
        if (can_move(ranks_[i], clocks[i], slowest)) {
            return;
        }
    }
    bool opened = false;
    if (now - still_since_ >= options_.patience) {
        opened = open_gates(clocks, false);
    }
    if (!opened && now - still_since_ >= options_.long_patience) {
        opened = open_gates(clocks, true);
    }
    if (opened) {
        still_since_ = now;
        write_targets(clocks);
        run_those_who_may(clocks, now);
    }
}

bool SyncAndStop::open_gates(const Clocks &clocks, bool also_lagging)
{
    std::set<std::uint64_t> lagging;
    std::set<std::uint64_t> gated;

    for (std::size_t i = 0; i < ranks_.size(); i++) {
        for (const ckpt_clock &clock : clocks[i]) {
            if (clock.id != 0 && clock.left < target(clock.id)) {
                lagging.insert(clock.id);
            }
        }
        const Rank &rank = ranks_[i];
        if (rank.place == CKPT_PLACE_GATE && rank.holds &&
            rank.slot < clocks[i].size() && clocks[i][rank.slot].id != 0) {
            gated.insert(clocks[i][rank.slot].id);
        }
    }
    bool any = false;
    for (std::uint64_t id : gated) {
        if (also_lagging || lagging.count(id) == 0) {
            targets_[id]++;
            any = true;
        }
    }
    return any;
}

void SyncAndStop::on_report(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ == Phase::write || phase_ == Phase::commit) {
        return;
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
    enter(Phase::save, now);
    for (int i = 0; i < rank_count(); i++) {
        send(i, CKPT_MSG_SAVE, ranks_[i].place == CKPT_PLACE_INSIDE);
    }
}

void SyncAndStop::on_ready(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ == Phase::save && !rank.answered) {
        rank.snapshot = message.arg[0];
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
 * buffers, which are no part of any image.
 */
void SyncAndStop::captured(int rank, Time now)
{
    if (phase_ != Phase::write) {
        return;
    }
    ranks_.at(rank).captured = true;
    if (!kill_) {
        let_go(ranks_[rank], now);
        send(rank, CKPT_MSG_RESUME, false, 0);
    }
    bool all = std::all_of(ranks_.begin(), ranks_.end(),
                           [](const Rank &r) { return r.captured; });
    if (all) {
        times_.capture = seconds(now - phase_began_);
        phase_began_ = now;
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
        actions_.push_back(action::Kill{});
    }
    finish(true, now);
}

/* ---- The end ------------------------------------------------------------ */

void SyncAndStop::failed(std::string_view reason, Time now)
{
    if (phase_ != Phase::idle && phase_ != Phase::undo) {
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
        bool resumed = rank.captured && !kill_;
        if (rank.presence == Presence::here && !resumed) {
            let_go(rank, now);
            send(i, CKPT_MSG_RESUME, false, 1, reason);
        }
    }
    reason_ = std::move(reason);
    if (phase_ == Phase::write || phase_ == Phase::commit) {
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
    actions_.push_back(action::Finish{committed, reason_});
}

} // namespace ckpt
