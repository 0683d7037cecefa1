/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost_agent.cpp - a Chandy-Lamport or network-sweeping checkpoint whose agent dies when some ranks
 * have been cut (docs/consistent-cuts.md, section 1). Nothing is kept, and the next coordinator
 * completes the cut, so that all ranks have the same colour again: CUT, LOG, CLOSE. The table is at
 * the end.
 */
#include "protocol/cut/cut_rows.hpp"
#include "protocol/cut/cut_state.hpp"
#include "protocol/cut/nonblocking_cut.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt
{

namespace
{

using Time = CutState::Time;

void ask_to_finish(CutState &state, int number, Time now)
{
    RankState &rank = state.ranks[number];
    const RankCut cut = rank.watch.cut();

    rank = RankState::fresh(rank.watch);
    if (cut.epoch == state.epoch) { /* all ranks that are closed are in this epoch as well */
        rank.asked_at = now;
        rank.answered = rank.resumed = true;
        rank.used = cut.open ? 1 : 0;
    } else {
        order_cut(state, number, now); /* perhaps for the second time: the rank's first answer
                                          counts */
    }
}

void complete_cut(CutState &state, Time now)
{
    for (const RankState &rank : state.ranks) {
        state.epoch = std::max({state.epoch, rank.watch.cut().epoch, rank.watch.cut().asked});
    }
    state.protocol = &cut_completion;
    state.plan = {};
    state.plan.protocol = cut_completion.protocol;
    state.counts = cut_completion.counts;
    state.failure = CutFailure{Refusal(CKPT_REFUSAL_AGENT_LOST, "an agent was lost meanwhile")};
    state.requested_at = now;
    state.enter(Phase::cut, now);
    for (int i = 0; i < state.rank_count(); i++) {
        ask_to_finish(state, i, now);
    }
    examine_logs(state, now);
}

/* The rank has answered a CLOSE of the lost checkpoint. */
void on_closed_before_the_loss(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];

    if (event.closes) {
        rank.used = rank.complete = 0;
        examine_logs(state, event.now);
    }
}

/* A refusal of CUT, or of a CLOSE of the lost checkpoint. */
void on_refused_in_cut(CutState &state, const CutEvent &event)
{
    if (event.closes) {
        on_closed_before_the_loss(state, event);
    } else if (!state.ranks[event.rank].answered) {
        on_cut(state, event);
    }
}

} // namespace

void settle(CutState &state, Time now)
{
    if (!state.colours_may_differ || state.phase != Phase::idle ||
        state.present() != state.rank_count()) {
        return;
    }
    state.colours_may_differ = false;
    if (state.any_may_be_open()) {
        complete_cut(state, now);
        return;
    }
    for (int i = 0; i < state.rank_count(); i++) {
        state.send(i, CKPT_MSG_RESUME, false, {.end = {CKPT_GIVEN_UP}},
                   Refusal(CKPT_REFUSAL_AGENT_LOST, "an agent was lost").text());
    }
}

/* Ranks that wait to be saved go on. Ranks that are not cut wait until it is known whether others
 * are. */
void on_lost_in_cut(CutState &state, const CutEvent &event)
{
    state.mark_failed(
        refusal(CKPT_REFUSAL_AGENT_LOST, "the agent of rank {} was lost", event.rank));
    for (int i = 0; i < state.rank_count(); i++) {
        if (!state.ranks[i].resumed) {
            state.let_continue(state.ranks[i], event.now);
            state.send(i, CKPT_MSG_RESUME, false, {.end = {CKPT_LEFT_OPEN}},
                       state.failure->reason.text());
        }
    }
    state.colours_may_differ = true;
    if (state.protocol->is_checkpoint) {
        state.phase = Phase::undo;
        state.actions.push_back(action::Undo{});
    } else {
        state.phase = Phase::idle;
    }
    on_leaving(state, event);
}

void settled(CutState &state, Time now)
{
    state.times.total = std::chrono::duration<double>(now - state.requested_at).count();
    state.phase = Phase::idle;
    state.actions.push_back(action::Settled{});
}

/* ---- The table ------------------------------------------------------------ */

namespace
{

constexpr const char *late = "late result of the attempt whose agent was lost";
constexpr const char *no_image = "no image is made, so none can be wrong";

constexpr PhaseRow completing_row = [] {
    PhaseRow row = attempt_row.with({
        {Event::finalized, does(on_loss, "the completion is given up: the job is ending")},
        {Event::exited, does(on_loss, "the completion is given up: the job is ending")},
        {Event::agent_lost,
         does(on_lost_in_cut, "back to IDLE; the cut is completed when all are here")},
        {Event::report, ignores("all ranks have been asked; none has a turn")},
        {Event::stopped, ignores(no_image)},
        {Event::drained, ignores(no_image)},
        {Event::ready, ignores("the rank's first answer to CUT counts")},
        {Event::opened, ignores(late)},
        {Event::sweep_failed, ignores("the coordinator tells the counts")},
        {Event::captured, ignores(late)},
        {Event::written, ignores(late)},
        {Event::committed, ignores(late)},
        {Event::failed, ignores("nothing is kept anyway")},
        {Event::undone, ignores(late)},
        {Event::tick, does(on_tick_in_log, "ranks are reminded of what they have to receive")},
    });
    row.failure = PhaseRow::Failure::give_up_cut;
    row.limit = PhaseRow::Limit::none;
    row.ranks_run = true;
    return row;
}();

constexpr PhaseRow cut_row = [] {
    PhaseRow row = completing_row.with({
        {Event::ready, first(on_cut, "the rank is cut, is not read, and runs on; the last one: "
                                     "LOG")},
        {Event::refused, does(on_refused_in_cut, "the rank is cut, or was before, and runs on; "
                                                 "the last one: LOG")},
        {Event::complete, does(on_complete, "noted, if the rank is complete with all others")},
        {Event::logged, does(on_closed_before_the_loss, "the answer to a CLOSE before the loss: "
                                                        "the rank needs nothing")},
    });
    row.phase = Phase::cut;
    row.title = "CUT (completion)";
    return row;
}();

constexpr PhaseRow log_row = [] {
    PhaseRow row = completing_row.with({
        {Event::refused, does(on_closed_before_the_loss, "the answer to a CLOSE before the loss: "
                                                         "the rank needs nothing")},
        {Event::complete, does(on_complete, "CLOSE, if all open ranks are complete with all "
                                            "others")},
        {Event::logged, does(on_closed_before_the_loss, "the answer to a CLOSE before the loss: "
                                                        "the rank needs nothing")},
    });
    row.phase = Phase::log;
    row.title = "LOG (completion)";
    row.done_name = "logged";
    return row;
}();

constexpr PhaseRow close_row = [] {
    PhaseRow row = completing_row.with({
        {Event::refused, first(on_logged, "the rank is closed; the last one: IDLE")},
        {Event::complete, ignores("all ranks are complete")},
        {Event::logged, first(on_logged, "the rank is closed; the last one: IDLE")},
    });
    row.phase = Phase::close;
    row.title = "CLOSE (completion)";
    row.done_name = "logged";
    return row;
}();

static_assert(is_whole(cut_row) && is_whole(log_row) && is_whole(close_row));
/* A cut is completed, not a checkpoint: no time limit applies. */
static_assert(completing_row.limit == PhaseRow::Limit::none);

} // namespace

constinit const CutDescription cut_completion = {
    .name = "Completion of a cut",
    .protocol = Protocol::network_sweep,
    .is_checkpoint = false,
    .alignment = CollectiveTargets::Rule::ranks_run_on,
    .cut = CKPT_CUT_SWEEP,
    .counts = Counts::coordinator,
    .aligned = nullptr,
    .rows = rows_of({&idle_row, &cut_row, &log_row, &close_row}),
};

} // namespace ckpt
