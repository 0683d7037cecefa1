/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_protocol.cpp - the common part of all protocols: ranks that come and go, and the begin and
 * end of a request. The other parts are alignment.cpp, sync_and_stop.cpp or nonblocking_cut.cpp,
 * and lost_agent.cpp.
 */
#include "protocol/cut_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace ckpt
{

double CutProtocol::seconds(Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

std::string CutProtocol::text_of(const ckpt_message &message)
{
    return {message.text, strnlen(message.text, sizeof message.text)};
}

Refusal CutProtocol::refusal_by(int rank, const ckpt_message &message)
{
    return refusal(refusal_of(message.arg[6]), "rank {}: {}", rank, text_of(message));
}

const char *phase_name(Phase phase)
{
    static const char *const names[] = {"running", "align", "stop", "drain",
                                        "save",    "open",  "cut",  "log",
                                        "write",   "commit", "undo"};
    return names[static_cast<int>(phase)];
}

CutProtocol::CutProtocol(int rank_count, const RankPages &pages,
                         Options options)
    : pages_(pages), options_(options), ranks_(rank_count)
{
}

std::vector<Action> CutProtocol::take_actions()
{
    return std::exchange(actions_, {});
}

/* ---- Ranks come and go ------------------------------------------------- */

void CutProtocol::hello(int rank, const RankCut &cut, Time now)
{
    ranks_.at(rank) = fresh(RankCutWatch(cut));
    unsettled_ = unsettled_ || cut.may_be_open() || cut.in_doubt;
    settle(now);
}

void CutProtocol::goodbye(int rank, Time now)
{
    ranks_.at(rank).presence = Presence::finished;
    if (phase_ != Phase::idle && is_needed(ranks_[rank])) {
        give_up(refusal(CKPT_REFUSAL_JOB_ENDING, "rank {} has called MPI_Finalize", rank), now);
    }
}

/* Whether the checkpoint still needs the rank. It does not when the rank's memory is copied,
 * unless the rank still has to log messages. */
bool CutProtocol::is_needed(const Rank &rank) const
{
    return !rank.captured || is_moving();
}

void CutProtocol::gone(int rank, Time now)
{
    Rank &lost = ranks_.at(rank);
    bool finished = lost.presence == Presence::finished;

    lost.presence = finished ? Presence::finished : Presence::gone;
    if (phase_ != Phase::idle && !finished && is_needed(lost)) {
        give_up(refusal(CKPT_REFUSAL_RANK_DIED, "rank {} has died", rank), now);
    }
}

void CutProtocol::lost(int rank, Time now)
{
    if (phase_ == Phase::cut || phase_ == Phase::log) {
        abandon(refusal(CKPT_REFUSAL_AGENT_LOST, "the agent of rank {} was lost", rank), now);
    } else {
        gone(rank, now);
    }
    ranks_.at(rank).presence = Presence::unseen;
}

int CutProtocol::present() const
{
    return static_cast<int>(
        std::count_if(ranks_.begin(), ranks_.end(), [](const Rank &rank) {
            return rank.presence == Presence::here;
        }));
}

bool CutProtocol::ending() const
{
    return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank &rank) {
        return rank.presence == Presence::finished ||
               rank.presence == Presence::gone;
    });
}

bool CutProtocol::has_finished() const
{
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank &rank) {
        return rank.presence == Presence::finished;
    });
}

double CutProtocol::elapsed(Time now) const
{
    return seconds(now - requested_at_);
}

Refusal CutProtocol::obstacle() const
{
    int begun = 0;

    for (int i = 0; i < rank_count(); i++) {
        if (ranks_[i].presence == Presence::finished) {
            return refusal(CKPT_REFUSAL_JOB_ENDING, "rank {} has already called MPI_Finalize", i);
        }
        if (ranks_[i].presence == Presence::gone) {
            return refusal(CKPT_REFUSAL_RANK_DIED, "rank {} has died: the job is ending", i);
        }
        begun += ranks_[i].presence == Presence::here ? 1 : 0;
    }
    if (begun < rank_count()) {
        return refusal(CKPT_REFUSAL_JOB_STARTING,
                       "the job is still starting: {} of {} ranks have called MPI_Init", begun,
                       rank_count());
    }
    return {};
}

/* Ranks may have different colours, and the ghost cannot be cut. */
Refusal CutProtocol::ghost_obstacle() const
{
    const bool any_open =
        std::any_of(ranks_.begin(), ranks_.end(), [](const Rank &rank) {
            return rank.watch.cut().may_be_open() || rank.watch.cut().in_doubt;
        });

    return any_open || unsettled_ || settling_ || is_moving()
               ? Refusal(CKPT_REFUSAL_NOT_REPLAYABLE,
                         "a checkpoint was under way for which ranks do not stand still")
               : Refusal();
}

const char *CutProtocol::state_name(int rank) const
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

bool CutProtocol::stands_still(int rank) const
{
    return ranks_.at(rank).still_since.has_value();
}

CutProtocol::Rank CutProtocol::fresh(const RankCutWatch &watch)
{
    Rank rank;

    rank.presence = Presence::here;
    rank.watch = watch;
    return rank;
}

/* ---- Common to all phases ---------------------------------------------- */

void CutProtocol::enter(Phase phase, Time now)
{
    phase_ = phase;
    phase_began_ = now;
    for (Rank &rank : ranks_) {
        rank.answered = false;
    }
}

bool CutProtocol::all_answered() const
{
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const Rank &rank) { return rank.answered; });
}

int CutProtocol::ranks_done() const
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

void CutProtocol::send(int rank, ckpt_message_type type, bool signal,
                       std::uint64_t argument, std::string_view text)
{
    ranks_[rank].watch.ordered(type, epoch_, argument);
    actions_.push_back(
        action::Send{rank, type, signal, argument, std::string(text)});
}

void CutProtocol::hold(Rank &rank, Time now)
{
    rank.holds = true;
    if (!rank.still_since) {
        rank.still_since = now;
    }
}

void CutProtocol::let_continue(Rank &rank, Time now)
{
    rank.holds = false;
    if (rank.still_since) {
        times_.stop = std::max(times_.stop, seconds(now - *rank.still_since));
        rank.still_since.reset();
    }
}

void CutProtocol::set_place(Rank &rank, const ckpt_message &message, Time now)
{
    rank.place = static_cast<std::uint32_t>(message.arg[0]);
    rank.slot = static_cast<std::uint32_t>(message.arg[1]);
    rank.flags = static_cast<std::uint32_t>(message.arg[2]);
    if (message.arg[3] != 0) {
        hold(rank, now);
    } else {
        let_continue(rank, now);
    }
}

void CutProtocol::request(std::uint64_t epoch, bool kill, Time now, CutPlan plan)
{
    assert(phase_ == Phase::idle && obstacle().empty());

    epoch_ = epoch;
    kill_ = kill;
    left_early_ = false;
    plan_ = std::move(plan);
    moved_ = quiet_ = closing_ = may_retry_ = false;
    swept_ = true;
    log_ = {};
    targets_.clear();
    fingerprint_.clear();
    reason_ = {};
    times_ = {};
    requested_at_ = now;
    began_to_be_still(now);
    enter(Phase::align, now);
    for (int i = 0; i < rank_count(); i++) {
        ranks_[i] = fresh(ranks_[i].watch);
        /* the gate is closed for all collectives until the targets are known */
        actions_.push_back(action::SetTargets{
            i, std::vector<std::uint64_t>(pages_.clocks(i).size(), 0)});
        send(i, CKPT_MSG_REQUEST, true, is_to_move() ? 1 : 0);
    }
}

std::optional<CutProtocol::Time> CutProtocol::deadline() const
{
    if (phase_ == Phase::idle || phase_ == Phase::commit ||
        phase_ == Phase::undo || settling_ ||
        (is_moving() && !reason_.empty())) {
        return {}; /* a cut that must be completed has no time limit */
    }
    const bool is_short = plan_.replayed >= 0 && phase_ < Phase::open;
    return requested_at_ + (is_short ? plan_.agree_within : options_.timeout);
}

void CutProtocol::tick(Time now)
{
    if (deadline() && now >= *deadline()) {
        failed(refusal(CKPT_REFUSAL_TIME_LIMIT,
                       "not done after {:.0f} s: {} of {} ranks were through with phase {}",
                       seconds(*deadline() - requested_at_), ranks_done(), rank_count(),
                       phase_name(phase_)),
               now);
    } else if (phase_ == Phase::align) {
        align(now);
    } else if (phase_ == Phase::cut || phase_ == Phase::log) {
        remind(now);
        if (phase_ == Phase::cut) {
            pass_turns(now);
        }
    }
}

/*
 * Messages of a rank arrive in the order in which it sent them, and each phase
 * begins when all ranks have answered the previous one. So an answer that comes
 * before its rank was asked again belongs to a round that was broken off, and
 * is dropped. But a rank whose agent is connected obeys CUT and CLOSE whatever
 * happens to other agents. Its answers to these count for the end of the cut.
 */
void CutProtocol::message(int rank, const ckpt_message &message, Time now)
{
    Rank &sender = ranks_.at(rank);

    const bool was_open = sender.watch.cut().open;
    sender.watch.answered(message);
    if (settling_ && !closing_ && was_open && !sender.watch.cut().open) {
        closed_before_the_loss(sender, now);
        return;
    }
    if (phase_ == Phase::idle || phase_ == Phase::undo ||
        message.epoch != epoch_) {
        return; /* answer to a checkpoint that was given up */
    }
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
        give_up(refusal_by(rank, message), now);
        break;
    default:
        break;
    }
}

/* ---- Reports ------------------------------------------------------------ */

void CutProtocol::on_report(Rank &rank, const ckpt_message &message, Time now)
{
    if (phase_ == Phase::cut && !rank.asked_at) {
        set_place(rank, message, now); /* ranks that wait are cut first */
    }
    if (phase_ >= Phase::open) {
        return;
    }
    rank.needs |= message.arg[5];
    rank.has_sent = rank.has_sent || (message.arg[6] & CKPT_REPORT_SENT) != 0;
    rank.synchronous =
        rank.synchronous || (message.arg[6] & CKPT_REPORT_SYNCHRONOUS) != 0;
    if (message.arg[0] == CKPT_PLACE_GATE && message.arg[3] == 0) {
        rank.gates[static_cast<std::uint32_t>(message.arg[1])] = message.arg[4];
        return; /* a report about one thread; the rank reports for itself separately */
    }
    if (phase_ == Phase::stop && rank.answered && message.arg[3] == 0 &&
        message.arg[0] != CKPT_PLACE_INSIDE) {
        return; /* a report about one thread; another thread is still inside */
    }
    set_place(rank, message, now);
    rank.reported = true;
    if (phase_ == Phase::align) {
        align(now);
    } else if (phase_ == Phase::drain || phase_ == Phase::save) {
        left_early_ = true; /* it was inside and has left */
        rank.answered = true;
        proceed(now);
    } /* in STOP: its STOPPED is still to come, or it left afterwards and is examined later */
}

/* ---- The end ------------------------------------------------------------ */

void CutProtocol::failed(Refusal reason, Time now)
{
    if (phase_ == Phase::cut || phase_ == Phase::log) {
        mark_failed(std::move(reason));
        examine_logs(now);
    } else if (phase_ != Phase::idle && phase_ != Phase::undo) {
        give_up(std::move(reason), now);
    }
}

/* Gives up the checkpoint; the job goes on in every case. */
void CutProtocol::give_up(Refusal reason, Time now)
{
    if (phase_ == Phase::undo) {
        return;
    }
    for (int i = 0; i < rank_count(); i++) {
        Rank &rank = ranks_[i];
        if (rank.presence == Presence::here && !rank.resumed) {
            let_continue(rank, now);
            send(i, CKPT_MSG_RESUME, false, 1, reason.text());
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

void CutProtocol::undone(Time now)
{
    if (phase_ == Phase::undo) {
        finish(false, now);
    }
}

void CutProtocol::finish(bool committed, Time now)
{
    times_.total = seconds(now - requested_at_);
    phase_ = Phase::idle;
    actions_.push_back(action::Finish{committed, reason_, may_retry_});
    settle(now);
}

} // namespace ckpt
