/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_and_stop.cpp - Plank's Sync-and-Stop (1993, section 2.4) for programs
 * whose collectives cannot be cut in two (docs/protocol.md, sections 4 to 6): ALIGN, STOP, DRAIN,
 * SAVE, WRITE, COMMIT. The table is at the end.
 */
#include "common/invariant.hpp"
#include "protocol/cut/cut_rows.hpp"
#include "protocol/cut/cut_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

using Time = CutState::Time;

/* ---- Back to ALIGN ------------------------------------------------------- */

/* A rank that is inside gets no message: it holds and
 * reports when it has left, and may be aligned then. */
void realign(CutState &state, Time now)
{
    state.enter(Phase::align, now);
    state.stall.begin(now, state.options.stall_timeout);
    const Clocks clocks = state.read_clocks();
    state.targets.raise(state.ranks, clocks);
    state.write_targets(clocks);
    for (int i = 0; i < state.rank_count(); i++) {
        RankState &rank = state.ranks[i];
        rank.left_early = false;
        if (rank.holds) {
            /* a rank that was ready inside goes on inside */
            if (rank.place != CKPT_PLACE_INSIDE) {
                rank.place = 0;
            }
            state.let_continue(rank, now);
            state.send(i, CKPT_MSG_RUN, false);
        }
    }
}

/* Goes on to the next step when all ranks have answered. If a rank has left
 * its collective meanwhile, the others may go on only now, so that no rank
 * gets two orders. */
void proceed(CutState &state, Time now, void (*next)(CutState &, Time))
{
    if (!state.all_answered()) {
        return;
    }
    if (std::ranges::any_of(state.ranks, &RankState::left_early)) {
        realign(state, now);
    } else {
        CKPT_INVARIANT(next != nullptr); /* whoever has none has left early */
        next(state, now);
    }
}

/* ---- WRITE --------------------------------------------------------------- */

void write(CutState &state, Time now)
{
    action::Capture capture;

    for (const RankState &rank : state.ranks) {
        capture.snapshots.push_back(rank.snapshot);
    }
    state.enter(Phase::write, now);
    state.actions.push_back(std::move(capture));
}

void resume_captured(CutState &state, Time now)
{
    CKPT_EXPECT(!state.plan.kill);
    const bool sharing_wait = std::ranges::any_of(
        state.ranks, [](const RankState &rank) { return rank.shared && !rank.captured; });

    for (int i = 0; i < state.rank_count(); i++) {
        RankState &rank = state.ranks[i];
        if (rank.captured && !rank.resumed && !(rank.shared && sharing_wait)) {
            rank.resumed = true;
            state.let_continue(rank, now);
            state.send(i, CKPT_MSG_RESUME, false, {.end = {CKPT_CAPTURED}});
        }
    }
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
void on_captured(CutState &state, const CutEvent &event)
{
    state.ranks[event.rank].captured = true;
    if (!state.plan.kill) {
        resume_captured(state, event.now);
    }
    if (std::ranges::all_of(state.ranks, &RankState::captured)) {
        state.times.capture =
            std::chrono::duration<double>(event.now - state.phase_began).count();
        state.phase_began = event.now;
    }
}

void on_written(CutState &state, const CutEvent &event)
{
    if (!std::ranges::all_of(state.ranks, &RankState::captured)) {
        state.refuse(event, "the memory of some rank has not been copied");
        return;
    }
    CKPT_INVARIANT(!state.failure);
    state.phase = Phase::commit;
    state.actions.push_back(action::Commit{});
}

/* A rank that stands still says nothing. */
void on_message_in_write(CutState &state, const CutEvent &event)
{
    if (!state.ranks[event.rank].captured) {
        state.refuse(event, "the rank has moved before its memory was copied");
    }
}

/* ---- SAVE ---------------------------------------------------------------- */

/*
 * A rank's threads stop when the rank describes itself, in some ranks later
 * than in others. Only after the last one does no rank send over the program's
 * own connections. So such ranks describe themselves again, to check that
 * nothing is in flight any more. Then everything sent has been received, and
 * they describe themselves for the last time.
 */
bool must_save_again(const CutState &state)
{
    return state.times_saved < 3 &&
           std::ranges::any_of(state.ranks, &RankState::leads_out);
}

/* Asks all ranks, as one rank may have both ends of another rank's
 * connection. They wait, so no signal is needed. */
void save_again(CutState &state, Time now)
{
    state.times_saved++;
    state.enter(Phase::save, now);
    for (int i = 0; i < state.rank_count(); i++) {
        state.send(i, CKPT_MSG_SAVE, false);
    }
}

void write_or_save_again(CutState &state, Time now)
{
    if (must_save_again(state)) {
        save_again(state, now);
    } else {
        write(state, now);
    }
}

void on_ready(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];
    const ckpt_msg_ready &ready = event.message->as.ready;

    rank.snapshot = ready.snapshot;
    rank.shared = (ready.flags & CKPT_READY_SHARED) != 0;
    rank.leads_out = (ready.flags & CKPT_READY_LEADS_OUT) != 0;
    if (rank.leads_out && state.plan.replayed >= 0) { /* a reply over the connection is not
                                                         replayed */
        state.give_up(refusal(CKPT_REFUSAL_NOT_REPLAYABLE,
                              "a rank has a connection of its own to another process, "
                              "perhaps to rank {}",
                              state.plan.replayed),
                      event.now);
        return;
    }
    rank.answered = true;
    rank.hold(event.now);
    proceed(state, event.now, write_or_save_again);
}

/* ---- DRAIN --------------------------------------------------------------- */

void save(CutState &state, Time now)
{
    state.times.drain = std::chrono::duration<double>(now - state.phase_began).count();
    state.times_saved = 1;
    state.enter(Phase::save, now);
    for (int i = 0; i < state.rank_count(); i++) {
        state.send(i, CKPT_MSG_SAVE, state.ranks[i].place == CKPT_PLACE_INSIDE);
    }
}

void drain(CutState &state, Time now)
{
    state.enter(Phase::drain, now);
    for (int i = 0; i < state.rank_count(); i++) {
        if (state.ranks[i].place == CKPT_PLACE_INSIDE) {
            state.ranks[i].answered = true; /* no message is in flight to it */
            continue;
        }
        state.set_expected(i);
        state.send(i, CKPT_MSG_DRAIN, false);
    }
    proceed(state, now, save); /* all ranks may be inside */
}

void on_drained(CutState &state, const CutEvent &event)
{
    state.ranks[event.rank].answered = true;
    proceed(state, event.now, save);
}

/* The rank was inside a collective and has left it. */
void on_left_early(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];

    if (note_report(rank, event.message->as.report)) {
        state.set_place(rank, event.message->as.report, event.now);
        rank.left_early = rank.answered = true;
        proceed(state, event.now, nullptr);
    }
}

/* ---- STOP ---------------------------------------------------------------- */

/* Makes ranks inside a collective leave it before the cut if a message is in
 * flight to them. Returns whether there is such a rank. */
bool raise_for_messages_in_flight(CutState &state, const Clocks &clocks)
{
    bool any = false;

    for (int i = 0; i < state.rank_count(); i++) {
        const RankState &rank = state.ranks[i];
        bool in_flight = false;
        for (int peer = 0; peer < state.rank_count() && rank.place == CKPT_PLACE_INSIDE; peer++) {
            in_flight =
                in_flight || state.pages.sent(peer, i) != state.pages.received(i, peer);
        }
        if (in_flight) {
            state.targets.raise_beyond(clocks[i][rank.slot]);
            any = true;
        }
    }
    return any;
}

/* Returns a rank that stands inside a collective of a communicator that its page does not have; -1:
 * there is none. Report and page come from another process. */
int inside_unknown(const CutState &state, const Clocks &clocks)
{
    for (int i = 0; i < state.rank_count(); i++) {
        const RankState &rank = state.ranks[i];
        if (rank.place == CKPT_PLACE_INSIDE &&
            (rank.slot >= clocks[i].size() || clocks[i][rank.slot].id == 0)) {
            return i;
        }
    }
    return -1;
}

/*
 * All ranks have stopped, perhaps at other places than those known when STOP
 * was sent. So the clocks are examined again. A rank that stays inside a
 * collective cannot drain, so no message may be in flight to it.
 */
void examine_stopped(CutState &state, Time now)
{
    const Clocks clocks = state.read_clocks();

    state.targets.raise(state.ranks, clocks);
    if (!state.targets.all_aligned(state.ranks, clocks)) {
        realign(state, now);
        return;
    }
    if (const int rank = inside_unknown(state, clocks); rank >= 0) {
        state.give_up(refusal(CKPT_REFUSAL_INTERNAL_ERROR,
                              "rank {} is inside a collective of a communicator that it does not "
                              "have",
                              rank),
                      now);
        return;
    }
    if (raise_for_messages_in_flight(state, clocks)) {
        realign(state, now);
        return;
    }
    state.times.request_to_stop =
        std::chrono::duration<double>(now - state.requested_at).count();
    state.write_targets(clocks); /* all collectives up to the targets have to be complete */
    drain(state, now);
}

void on_stopped(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];

    state.set_place(rank, event.message->as.report, event.now);
    if (rank.place != CKPT_PLACE_INSIDE) {
        rank.hold(event.now);
    }
    rank.answered = true;
    proceed(state, event.now, examine_stopped);
}

/* The rank's STOPPED is still to come, or it left afterwards and is examined later. */
void on_report_in_stop(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];
    const ckpt_msg_report &report = event.message->as.report;
    const bool another_thread_is_inside =
        rank.answered && report.holds == 0 && report.place != CKPT_PLACE_INSIDE;

    if (note_report(rank, report) && !another_thread_is_inside) {
        state.set_place(rank, report, event.now);
    }
}

} // namespace

void stop(CutState &state, Time now)
{
    state.enter(Phase::stop, now);
    for (int i = 0; i < state.rank_count(); i++) {
        state.send(i, CKPT_MSG_STOP, true);
    }
}

/* ---- The table ------------------------------------------------------------ */

namespace
{

constexpr PhaseRow standing_row = [] {
    PhaseRow row = attempt_row;
    row.failure = PhaseRow::Failure::give_up;
    row.limit = PhaseRow::Limit::agreement;
    return row;
}();

constexpr PhaseRow stop_row = [] {
    PhaseRow row = standing_row.with({
        {Event::report, does(on_report_in_stop, "the rank's place is noted")},
        {Event::stopped, first(on_stopped, "the last one: DRAIN; or ALIGN, if the places changed")},
    });
    row.phase = Phase::stop;
    row.title = "STOP";
    row.done_name = "stopped";
    return row;
}();

constexpr PhaseRow drain_row = [] {
    PhaseRow row = standing_row.with({
        {Event::report, does(on_left_early, "the rank has left its collective: back to ALIGN when "
                                            "all have answered")},
        {Event::drained, first(on_drained, "the last one: SAVE")},
    });
    row.phase = Phase::drain;
    row.title = "DRAIN";
    row.done_name = "drained";
    return row;
}();

constexpr PhaseRow save_row = [] {
    PhaseRow row = standing_row.with({
        {Event::report, does(on_left_early, "the rank has left its collective: back to ALIGN when "
                                            "all have answered")},
        {Event::ready, first(on_ready, "the last one: WRITE; or SAVE again, if connections lead "
                                       "from rank to rank")},
    });
    row.phase = Phase::save;
    row.title = "SAVE";
    return row;
}();

constexpr const char *moved =
    "refused if the rank's memory is not copied yet, as it has moved; else it runs on";

constexpr PhaseRow write_row = [] {
    PhaseRow row = attempt_row.with({
        {Event::finalized, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::exited, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::agent_lost, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::report, does(on_message_in_write, moved)},
        {Event::stopped, does(on_message_in_write, moved)},
        {Event::drained, does(on_message_in_write, moved)},
        {Event::ready, does(on_message_in_write, moved)},
        {Event::captured, does(on_captured, "the rank goes on, unless it is to be killed or waits "
                                            "for ranks that share its memory")},
        {Event::written, does(on_written, "COMMIT; refused if a rank's memory is not copied")},
        {Event::committed, violates("no manifest may exist before all pieces do")},
    });
    row.phase = Phase::write;
    row.title = "WRITE (all stopped)";
    row.failure = PhaseRow::Failure::undo;
    row.limit = PhaseRow::Limit::request;
    row.done = PhaseRow::Done::captured;
    return row;
}();

static_assert(is_whole(stop_row) && is_whole(drain_row) && is_whole(save_row));
static_assert(is_whole(write_row));
/* Until a rank is read, there is nothing on disk that has to be removed. */
static_assert(save_row.failure == PhaseRow::Failure::give_up &&
              write_row.failure == PhaseRow::Failure::undo);

} // namespace

constinit const CutDescription sync_and_stop = {
    .name = "Sync-and-Stop",
    .protocol = Protocol::sync_and_stop,
    .is_checkpoint = true,
    .alignment = CollectiveTargets::Rule::all_stop,
    .cut = {},
    .counts = Counts::coordinator,
    .aligned = stop,
    .rows = rows_of({&idle_row, &align_row, &stop_row, &drain_row, &save_row, &write_row,
                     &commit_row, &undo_row}),
};

} // namespace ckpt
