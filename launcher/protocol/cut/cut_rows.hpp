/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_rows.hpp - rows of the tables that several protocols have, or from which they make their own.
 */
#pragma once

#include "protocol/cut/cut_table.hpp"

namespace ckpt
{

/* ---- Handlers that several rows name -------------------------------------- */

/* The rank is connected, and has not been cut except by its own report. */
void on_hello(CutState &state, const CutEvent &event);
/* The same, for a rank whose loss was not noticed. */
void on_return(CutState &state, const CutEvent &event);
/* The rank is missing, and nothing depends on it. */
void on_leaving(CutState &state, const CutEvent &event);
/* The rank is missing, and the checkpoint is given up unless it can do without the rank. */
void on_loss(CutState &state, const CutEvent &event);
void on_request(CutState &state, const CutEvent &event);
void on_report_in_align(CutState &state, const CutEvent &event);
void on_tick_in_align(CutState &state, const CutEvent &event);
void on_refused(CutState &state, const CutEvent &event);
void on_failed(CutState &state, const CutEvent &event);
void on_committed(CutState &state, const CutEvent &event);
void on_undone(CutState &state, const CutEvent &event);

/* ---- Rows ------------------------------------------------------------------ */

/* A phase of a checkpoint in which no rank has a new colour and no work of the agents is under way.
 * It has all events that end a checkpoint. */
inline constexpr PhaseRow attempt_row = PhaseRow{}.with({
    {Event::request, violates("the caller has to wait for phase IDLE")},
    {Event::hello, does(on_return, "as `agent_lost`; then the rank is here")},
    {Event::finalized, does(on_loss, "the checkpoint is given up")},
    {Event::exited, does(on_loss, "the checkpoint is given up")},
    {Event::agent_lost, does(on_loss, "the checkpoint is given up; the rank may return")},
    {Event::report, ignores("no place of a rank matters now")},
    {Event::stopped, ignores("the answer belongs to a round that was broken off")},
    {Event::drained, ignores("the answer belongs to a round that was broken off")},
    {Event::ready, ignores("the answer belongs to a round that was broken off")},
    {Event::complete, violates("the rank takes itself for open, but has not been cut")},
    {Event::logged, violates("the rank takes itself for open, but has not been cut")},
    {Event::refused, does(on_refused, "the checkpoint is given up")},
    {Event::opened, ignores("late result of an attempt that was given up")},
    {Event::sweep_failed, ignores("nothing is swept yet, or at all")},
    {Event::captured, ignores("late result of an attempt that was given up")},
    {Event::written, ignores("late result of an attempt that was given up")},
    {Event::committed, ignores("late result of an attempt that was given up")},
    {Event::failed, does(on_failed, "the checkpoint is given up")},
    {Event::undone, ignores("late result of an attempt that was given up")},
    {Event::tick, ignores("only the time limit matters")},
});

/* The ranks run, and owe the coordinator no answer. */
inline constexpr PhaseRow quiet_row = PhaseRow{.failure = PhaseRow::Failure::none}.with({
    {Event::request, violates("the caller has to wait for phase IDLE")},
    {Event::hello, does(on_hello, "the rank is here")},
    {Event::finalized, does(on_leaving, "the rank has finished")},
    {Event::exited, does(on_leaving, "the rank is gone")},
    {Event::agent_lost, does(on_leaving, "the rank may return")},
    {Event::report, ignores("answer to a checkpoint that is over")},
    {Event::stopped, ignores("answer to a checkpoint that is over")},
    {Event::drained, ignores("answer to a checkpoint that is over")},
    {Event::ready, ignores("answer to a checkpoint that is over; only the rank's cut is noted")},
    {Event::complete, ignores("answer to a checkpoint that is over")},
    {Event::logged, ignores("answer to a checkpoint that is over; only the rank's cut is noted")},
    {Event::refused, ignores("answer to a checkpoint that is over; only the rank's cut is noted")},
    {Event::opened, ignores("late result of an attempt that was given up")},
    {Event::sweep_failed, ignores("late result of an attempt that was given up")},
    {Event::captured, ignores("late result of an attempt that was given up")},
    {Event::written, ignores("late result of an attempt that was given up")},
    {Event::committed, ignores("late result of an attempt that was given up")},
    {Event::failed, ignores("there is no checkpoint that could fail")},
    {Event::undone, ignores("nothing is being undone")},
    {Event::tick, ignores("there is no time limit")},
});

inline constexpr PhaseRow idle_row = [] {
    PhaseRow row = quiet_row.with({
        {Event::request, does(on_request, "all ranks are asked to report")},
        {Event::hello, does(on_hello, "the rank is here; after a loss, the last one begins the "
                                      "completion of the cut")},
    });
    row.phase = Phase::idle;
    row.title = "IDLE";
    return row;
}();

inline constexpr PhaseRow align_row = [] {
    PhaseRow row = attempt_row.with({
        {Event::report, does(on_report_in_align, "the rank's place and clocks are examined")},
        {Event::tick, does(on_tick_in_align, "clocks are examined; gates that stall are opened")},
    });
    row.phase = Phase::align;
    row.title = "ALIGN";
    row.failure = PhaseRow::Failure::give_up;
    row.limit = PhaseRow::Limit::agreement;
    row.done = PhaseRow::Done::aligned;
    return row;
}();

inline constexpr PhaseRow commit_row = [] {
    PhaseRow row = attempt_row.with({
        {Event::finalized, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::exited, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::agent_lost, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::complete, ignores("the rank is closed; its log is on disk")},
        {Event::logged, ignores("the rank is closed; its log is on disk")},
        {Event::committed, does(on_committed, "the checkpoint exists")},
        {Event::sweep_failed, ignores("all logs are complete")},
    });
    row.phase = Phase::commit;
    row.title = "COMMIT";
    row.failure = PhaseRow::Failure::undo;
    row.limit = PhaseRow::Limit::none;
    return row;
}();

inline constexpr PhaseRow undo_row = [] {
    PhaseRow row = quiet_row.with({
        {Event::undone, does(on_undone, "the checkpoint is over; the client gets the reason")},
    });
    row.phase = Phase::undo;
    row.title = "UNDO";
    return row;
}();

static_assert(is_whole(idle_row) && is_whole(align_row));
static_assert(is_whole(commit_row) && is_whole(undo_row));
/* What ends the last phase of an attempt cannot fail by the time that the attempt takes. */
static_assert(commit_row.limit == PhaseRow::Limit::none && undo_row.limit == PhaseRow::Limit::none);

} // namespace ckpt
