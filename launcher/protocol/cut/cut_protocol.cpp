/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_protocol.cpp - hands events to the table of the protocol, and says what the state is.
 */
#include "protocol/cut/cut_protocol.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace ckpt
{

namespace
{

using Presence = RankState::Presence;

double seconds(CutProtocol::Duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

/* Returns the event that a rank's message is; nothing if no rank sends such a message during a
 * checkpoint. */
std::optional<Event> event_of(std::uint32_t type)
{
    switch (type) {
    case CKPT_MSG_REPORT:
        return Event::report;
    case CKPT_MSG_STOPPED:
        return Event::stopped;
    case CKPT_MSG_DRAINED:
        return Event::drained;
    case CKPT_MSG_READY:
        return Event::ready;
    case CKPT_MSG_COMPLETE:
        return Event::complete;
    case CKPT_MSG_LOGGED:
        return Event::logged;
    case CKPT_MSG_REFUSED:
        return Event::refused;
    default:
        return {};
    }
}

} // namespace

CutProtocol::CutProtocol(int rank_count, const RankPages &pages, Options options)
    : state_(rank_count, pages, options)
{
    CKPT_EXPECT(rank_count > 0);
}

std::vector<Action> CutProtocol::take_actions()
{
    return std::exchange(state_.actions, {});
}

/* ---- Events ------------------------------------------------------------------ */

CutEvent CutProtocol::event_of_rank(Event kind, int rank, Time now) const
{
    CKPT_EXPECT(rank >= 0 && rank < rank_count());
    return {kind, now, rank};
}

void CutProtocol::hello(int rank, const RankCut &cut, Time now)
{
    CutEvent event = event_of_rank(Event::hello, rank, now);

    event.known = &cut;
    state_.handle(event);
}

void CutProtocol::finalized(int rank, Time now)
{
    state_.handle(event_of_rank(Event::finalized, rank, now));
}

void CutProtocol::exited(int rank, Time now)
{
    state_.handle(event_of_rank(Event::exited, rank, now));
}

void CutProtocol::agent_lost(int rank, Time now)
{
    state_.handle(event_of_rank(Event::agent_lost, rank, now));
}

void CutProtocol::request(std::uint64_t epoch, Time now, const CutPlan &plan)
{
    CKPT_EXPECT(epoch > 0); /* 0 stands for no epoch in RankCut */
    CutEvent event{Event::request, now};

    event.epoch = epoch;
    event.plan = &plan;
    state_.handle(event);
}

/*
 * An answer to an earlier checkpoint is dropped. But a rank whose agent is connected obeys CUT and
 * CLOSE whatever happens to other agents. Its answers to these count for the end of the cut.
 */
void CutProtocol::message(int rank, const ckpt_message &message, Time now)
{
    RankCutWatch &watch = state_.ranks.at(rank).watch;
    const std::optional<Event> kind = event_of(message.type);

    const bool was_open = watch.cut().open;
    watch.answered(message);
    if (kind && message.epoch == state_.epoch) {
        CutEvent event = event_of_rank(*kind, rank, now);
        event.message = &message;
        event.closes = was_open && !watch.cut().open;
        state_.handle(event);
    }
}

void CutProtocol::opened(Time now)
{
    state_.handle({Event::opened, now});
}

void CutProtocol::sweep_failed()
{
    state_.handle({Event::sweep_failed});
}

void CutProtocol::captured(int rank, Time now)
{
    state_.handle(event_of_rank(Event::captured, rank, now));
}

void CutProtocol::written(Time now)
{
    state_.handle({Event::written, now});
}

void CutProtocol::committed(Time now)
{
    state_.handle({Event::committed, now});
}

void CutProtocol::failed(Refusal reason, Time now)
{
    CutEvent event{Event::failed, now};

    event.reason = std::move(reason);
    state_.handle(event);
}

void CutProtocol::undone(Time now)
{
    state_.handle({Event::undone, now});
}

void CutProtocol::tick(Time now)
{
    const std::optional<Time> limit = deadline();

    if (limit && now >= *limit) {
        failed(refusal(CKPT_REFUSAL_TIME_LIMIT, "not done after {:.0f} s: {} of {} ranks were "
                                                "through with phase {}",
                       seconds(*limit - state_.requested_at), ranks_done(), rank_count(),
                       phase_name(phase())),
               now);
    } else {
        state_.handle({Event::tick, now});
    }
}

/* Ranks that will be killed stand still until then. */
void CutProtocol::join(bool kill)
{
    CKPT_EXPECT(may_join());
    if (kill) {
        state_.plan.kill = true;
        state_.protocol = &sync_and_stop;
        state_.targets.let_all_stop();
    }
}

/* ---- The state ---------------------------------------------------------------- */

const Refusal &CutProtocol::reason() const
{
    static const Refusal none;

    return state_.failure ? state_.failure->reason : none;
}

bool CutProtocol::ending() const
{
    return std::ranges::any_of(state_.ranks, [](const RankState &rank) {
        return rank.presence == Presence::finished || rank.presence == Presence::gone;
    });
}

bool CutProtocol::has_finished() const
{
    return std::ranges::all_of(state_.ranks, [](const RankState &rank) {
        return rank.presence == Presence::finished;
    });
}

double CutProtocol::elapsed(Time now) const
{
    return seconds(now - state_.requested_at);
}

/* Ranks may have different colours, and the proxy cannot be cut. */
Refusal CutProtocol::proxy_obstacle() const
{
    const bool any_in_doubt = std::ranges::any_of(
        state_.ranks, [](const RankState &rank) { return rank.watch.cut().in_doubt; });

    return any_in_doubt || state_.any_may_be_open() || state_.colours_may_differ || is_moving()
               ? Refusal(CKPT_REFUSAL_NOT_REPLAYABLE,
                         "a checkpoint was under way for which ranks do not stand still")
               : Refusal();
}

const char *CutProtocol::state_name(int rank) const
{
    const RankState &r = state_.ranks.at(rank);

    if (r.presence != Presence::here) {
        static constexpr std::array absent = {"starting", "", "finished", "gone"};
        static_assert(absent.size() == static_cast<std::size_t>(Presence::gone) + 1);
        return absent[static_cast<std::size_t>(r.presence)];
    }
    if (phase() == Phase::idle || phase() == Phase::undo || r.resumed) {
        return "running";
    }
    if (r.answered) {
        return state_.row().done_name;
    }
    static constexpr std::array places = {"running", "free", "gate", "inside", "wait"};
    static_assert(places.size() == CKPT_PLACE_WAIT + 1);
    return places[r.place <= CKPT_PLACE_WAIT ? r.place : 0];
}

bool CutProtocol::stands_still(int rank) const
{
    return state_.ranks.at(rank).still_since.has_value();
}

int CutProtocol::ranks_done() const
{
    const PhaseRow::Done done = state_.row().done;
    int ranks = 0;

    for (int i = 0; i < rank_count(); i++) {
        const RankState &rank = state_.ranks[i];
        const bool is_done =
            done == PhaseRow::Done::captured   ? rank.captured
            : done == PhaseRow::Done::answered ? rank.answered
                                               : rank.reported &&
                                                     state_.targets.is_aligned(
                                                         rank, state_.pages.clocks(i));
        ranks += is_done ? 1 : 0;
    }
    return ranks;
}

} // namespace ckpt
