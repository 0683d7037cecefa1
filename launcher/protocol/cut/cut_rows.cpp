/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_rows.cpp - the begin and end of a checkpoint, and ranks that come and go, in all protocols.
 */
#include "protocol/cut/cut_rows.hpp"

#include "common/invariant.hpp"
#include "protocol/cut/cut_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ckpt
{

namespace
{

using Presence = RankState::Presence;

/* Returns what the event makes of the rank. */
Presence presence_after(const CutEvent &event, Presence before)
{
    switch (event.kind) {
    case Event::finalized:
        return Presence::finished;
    case Event::exited:
        return before == Presence::finished ? Presence::finished : Presence::gone;
    default:
        return Presence::unseen; /* it will return, unless it dies as well */
    }
}

/* Whether a plan is one for so many ranks. A rank in no lane would never get its turn. */
bool is_plan_for(const CutPlan &plan, int rank_count)
{
    std::size_t in_lanes = 0;

    for (const std::vector<int> &lane : plan.lanes) {
        in_lanes += lane.size();
    }
    return plan.replayed < rank_count &&
           (plan.lanes.empty() || in_lanes == static_cast<std::size_t>(rank_count));
}

/* The ranks get an order each to report and to enter no further collective. */
void begin(CutState &state, const CutEvent &event)
{
    CKPT_EXPECT(is_plan_for(*event.plan, state.rank_count()));
    /* settle() has given all ranks one colour, or has said that none is cut */
    CKPT_INVARIANT(!state.colours_may_differ && !state.any_may_be_open());
    state.epoch = event.epoch;
    state.plan = *event.plan;
    state.protocol = state.plan.kill ? &sync_and_stop : &description_of(state.plan.protocol);
    state.counts = state.protocol->counts;
    state.crossed = {};
    state.times = {};
    state.failure.reset();
    state.targets.begin(state.protocol->alignment);
    state.stall.forget();
    state.stall.begin(event.now, state.options.stall_timeout);
    state.requested_at = event.now;
    state.enter(Phase::align, event.now);
    for (int i = 0; i < state.rank_count(); i++) {
        state.ranks[i] = RankState::fresh(state.ranks[i].watch);
        /* the gate is closed for all collectives until the targets are known */
        state.actions.push_back(action::SetTargets{
            i, std::vector<std::uint64_t>(state.pages.clocks(i).size(), 0)});
        state.send(i, CKPT_MSG_REQUEST, true,
                   {.request = {state.protocol->ranks_run_on() ? 1u : 0u, 0}});
    }
}

} // namespace

/* ---- Handlers --------------------------------------------------------------- */

void on_request(CutState &state, const CutEvent &event)
{
    const Refusal obstacle = state.obstacle();

    if (obstacle.empty()) {
        begin(state, event);
    } else {
        state.actions.push_back(action::Finish{false, obstacle});
    }
}

void on_report_in_align(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];

    if (note_report(rank, event.message->as.report)) {
        state.set_place(rank, event.message->as.report, event.now);
        rank.reported = true;
        align(state, event.now);
    }
}

void on_tick_in_align(CutState &state, const CutEvent &event)
{
    align(state, event.now);
}

void on_undone(CutState &state, const CutEvent &event)
{
    state.finish(false, event.now);
}

void on_hello(CutState &state, const CutEvent &event)
{
    const RankCut &known = *event.known;

    state.ranks[event.rank] = RankState::fresh(RankCutWatch(known));
    state.colours_may_differ =
        state.colours_may_differ || known.may_be_open() || known.in_doubt;
    settle(state, event.now);
}

void on_return(CutState &state, const CutEvent &event)
{
    state.handle(CutEvent{Event::agent_lost, event.now, event.rank});
    on_hello(state, event);
}

void on_leaving(CutState &state, const CutEvent &event)
{
    Presence &presence = state.ranks[event.rank].presence;

    presence = presence_after(event, presence);
}

/* A checkpoint needs no rank whose memory is copied, unless the rank still has to log messages. */
void on_loss(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];
    const bool is_needed = !rank.captured || state.row().ranks_run;
    const bool had_finished = rank.presence == Presence::finished;

    on_leaving(state, event);
    if (is_needed && !had_finished) {
        const Refusal why =
            event.kind == Event::finalized
                ? refusal(CKPT_REFUSAL_JOB_ENDING, "rank {} has called MPI_Finalize", event.rank)
                : refusal(CKPT_REFUSAL_RANK_DIED, "rank {} has died", event.rank);
        state.give_up(why, event.now);
    }
}

void on_refused(CutState &state, const CutEvent &event)
{
    state.give_up(refusal_by(event.rank, *event.message), event.now);
}

void on_failed(CutState &state, const CutEvent &event)
{
    state.give_up(event.reason, event.now);
}

void on_committed(CutState &state, const CutEvent &event)
{
    state.times.commit =
        std::chrono::duration<double>(event.now - state.phase_began).count();
    if (state.plan.kill) {
        /* what a rank did since the cut would be lost */
        CKPT_INVARIANT(std::ranges::none_of(state.ranks, &RankState::resumed));
        for (RankState &rank : state.ranks) {
            state.let_continue(rank, event.now); /* it was stopped until its end */
        }
        state.actions.push_back(action::Kill{});
    }
    state.finish(true, event.now);
}

} // namespace ckpt
