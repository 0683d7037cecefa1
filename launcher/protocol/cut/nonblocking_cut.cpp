/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking_cut.cpp - Chandy-Lamport and network sweeping (Plank 1993, sections 2.5 and 2.6) for
 * ranks that are aligned (docs/consistent-cuts.md, section 1): ALIGN, OPEN, CUT, LOG, CLOSE, WRITE,
 * COMMIT. The tables are at the end.
 *
 * After the first cut, the ranks cannot go back to the old colour. So a checkpoint that is given up
 * still goes on to the end of CLOSE, but nothing is kept.
 */
#include "protocol/cut/nonblocking_cut.hpp"

#include "common/invariant.hpp"
#include "protocol/cut/cut_rows.hpp"
#include "protocol/cut/cut_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt
{

namespace
{

using Time = CutState::Time;

/* ---- CUT: the order of the ranks ------------------------------------------ */

/*
 * Staggered (Plank 1993, section 3.4): cuts the next rank of a lane. First come ranks that wait
 * anyway, for a message or before a collective, perhaps for ranks that have been cut. In Plank's
 * algorithm, markers make ranks take their cuts; here they do not. No rank receives a message of
 * the new colour before its own cut, so no rank has to hurry.
 */
void cut_next(CutState &state, const std::vector<int> &lane, Time now)
{
    auto is_left = [&](int rank) { return !state.ranks[rank].asked_at; };
    auto goes_first = [&](int rank) { return is_left(rank) && state.ranks[rank].waits(); };
    auto next = std::ranges::find_if(lane, goes_first);

    if (next == lane.end()) {
        next = std::ranges::find_if(lane, is_left);
    }
    if (next != lane.end()) {
        order_cut(state, *next, now);
    }
}

/* Cuts the next rank of this rank's lane. */
void cut_after(CutState &state, int rank, Time now)
{
    for (const std::vector<int> &lane : state.plan.lanes) {
        if (std::ranges::find(lane, rank) != lane.end()) {
            cut_next(state, lane, now);
        }
    }
}

void cut_rest(CutState &state, Time now)
{
    for (int i = 0; i < state.rank_count(); i++) {
        if (!state.ranks[i].asked_at) {
            order_cut(state, i, now);
        }
    }
}

void cut(CutState &state, Time now)
{
    state.enter(Phase::cut, now);
    state.waiting_at_cut = static_cast<int>(
        std::ranges::count_if(state.ranks, &RankState::waits));
    if (state.plan.lanes.empty()) {
        cut_rest(state, now);
        return;
    }
    for (const std::vector<int> &lane : state.plan.lanes) {
        cut_next(state, lane, now);
    }
}

/* A rank that does not answer may be inside a call that waits for another rank of its lane. So
 * the next rank gets its turn. */
void pass_turns(CutState &state, Time now)
{
    for (int i = 0; i < state.rank_count() && !state.plan.lanes.empty(); i++) {
        RankState &rank = state.ranks[i];
        if (rank.asked_at && !rank.answered &&
            now - *rank.asked_at >= state.options.turn) {
            rank.asked_at = now;
            cut_after(state, i, now);
        }
    }
}

/* Reminds ranks that compute, or wait for something else: they have to receive, or to complete
 * sends that they have begun. Ranks whose turn has not come are reminded as well, as a
 * nonblocking collective may need them to complete. */
void remind(CutState &state, Time now)
{
    if (now - state.last_reminder < state.options.reminder) {
        return;
    }
    state.last_reminder = now;
    for (int i = 0; i < state.rank_count(); i++) {
        if (state.ranks[i].resumed || !state.ranks[i].asked_at) {
            state.send(i, CKPT_MSG_PROGRESS, true);
        }
    }
}

/* ---- CUT: its end ----------------------------------------------------------- */

ckpt_outcome outcome(const CutState &state)
{
    return state.failure ? CKPT_GIVEN_UP : CKPT_CAPTURED;
}

std::string reason(const CutState &state)
{
    return state.failure ? state.failure->reason.text() : std::string();
}

void release(CutState &state, int number, Time now)
{
    RankState &rank = state.ranks[number];

    rank.resumed = true;
    state.let_continue(rank, now);
    state.send(number, CKPT_MSG_RESUME, false, {.end = {outcome(state)}}, reason(state));
    if (state.phase == Phase::cut) {
        cut_after(state, number, now);
    }
}

/* No rank is saved any more, but all are cut. */
void hasten(CutState &state, Time now)
{
    for (int i = 0; i < state.rank_count(); i++) {
        if (state.ranks[i].answered && !state.ranks[i].resumed) {
            release(state, i, now);
        }
    }
    cut_rest(state, now);
}

void tell_counts(CutState &state)
{
    for (int i = 0; i < state.rank_count(); i++) {
        state.set_expected(i);
        state.send(i, CKPT_MSG_COUNTS, true);
    }
}

/* A rank may have sent a message after all, between its report and its cut. */
void examine_quiet(CutState &state)
{
    const bool any_used = std::ranges::any_of(
        state.ranks, [](const RankState &rank) { return rank.used != 0; });

    if (state.counts == Counts::nobody && any_used) {
        state.counts = Counts::coordinator;
        for (RankState &rank : state.ranks) {
            rank.used = 1;
        }
    }
}

/* A rank that was cut inside a collective sends no markers before it has left, and others may need
 * its counts to enter. So the coordinator tells the counts also where there are markers. */
void begin_log(CutState &state, Time now)
{
    state.times.capture = std::chrono::duration<double>(now - state.phase_began).count();
    state.enter(Phase::log, now);
    examine_quiet(state);
    if (state.counts == Counts::coordinator) {
        tell_counts(state);
    }
}

/* ---- LOG, CLOSE -------------------------------------------------------------- */

bool all_complete(const CutState &state)
{
    std::uint64_t used = 0, complete = 0;

    for (const RankState &rank : state.ranks) {
        used += rank.used;
        complete += rank.complete;
    }
    return state.counts == Counts::nobody || used == complete;
}

void end_of_logs(CutState &state, Time now)
{
    CKPT_EXPECT(state.phase == Phase::close);
    if (!state.all_answered()) {
        return;
    }
    CKPT_INVARIANT(!state.any_may_be_open()); /* no log grows any more */
    state.times.drain = std::chrono::duration<double>(now - state.phase_began).count();
    if (!state.protocol->is_checkpoint) {
        settled(state, now);
    } else if (state.failure) {
        state.phase = Phase::undo;
        state.actions.push_back(action::Undo{});
    } else {
        state.enter(Phase::write, now);
        state.actions.push_back(action::ClosePieces{});
    }
}

/* The time since the begin of LOG is measured up to the end of CLOSE. */
void close_logs(CutState &state, Time now)
{
    state.phase = Phase::close;
    for (int i = 0; i < state.rank_count(); i++) {
        state.ranks[i].answered = !state.ranks[i].watch.cut().open;
        state.send(i, CKPT_MSG_CLOSE, true, {.end = {outcome(state)}}, reason(state));
    }
    end_of_logs(state, now); /* an agent may have been lost while logs were being closed */
}

} // namespace

void examine_logs(CutState &state, Time now)
{
    if (state.phase == Phase::cut && state.failure) {
        hasten(state, now);
    }
    if (state.phase == Phase::cut && state.all_answered() &&
        std::ranges::all_of(state.ranks, &RankState::resumed)) {
        begin_log(state, now);
    }
    if (state.phase == Phase::log && all_complete(state)) {
        close_logs(state, now);
    }
}

void order_cut(CutState &state, int rank, Time now)
{
    CKPT_EXPECT(state.phase == Phase::cut && !state.ranks[rank].asked_at); /* each rank once */
    /* unknown after the loss of an agent */
    const bool synchronous = !state.protocol->is_checkpoint || state.any_synchronous();
    /* the ranks of a program that communicates by collectives alone need no counts */
    const ckpt_cut kind =
        state.counts == Counts::nobody ? CKPT_CUT_QUIET : state.protocol->cut;

    state.ranks[rank].asked_at = now;
    state.send(rank, CKPT_MSG_CUT, true, {.cut = {kind, synchronous ? 1u : 0u}});
}

/* ---- Handlers -------------------------------------------------------------- */

namespace
{

/* Sync-and-Stop follows if a rank cannot be saved otherwise. The targets remain those for ranks
 * that run on. */
void aligned(CutState &state, Time now)
{
    if (std::ranges::any_of(state.ranks,
                            [](const RankState &rank) { return rank.needs != 0; })) {
        state.protocol = &sync_and_stop;
        stop(state, now);
        return;
    }
    state.times.request_to_stop =
        std::chrono::duration<double>(now - state.requested_at).count();
    if (std::ranges::none_of(state.ranks, &RankState::has_sent)) {
        state.counts = Counts::nobody;
    }
    state.enter(Phase::open, now);
    state.actions.push_back(action::OpenPieces{});
}

void on_opened(CutState &state, const CutEvent &event)
{
    cut(state, event.now);
}

/* The coordinator tells the counts when all ranks have been cut. */
void on_sweep_failed(CutState &state, const CutEvent &)
{
    if (state.counts == Counts::sweep) {
        state.counts = Counts::coordinator;
    }
}

void on_sweep_failed_in_log(CutState &state, const CutEvent &)
{
    state.counts = Counts::coordinator;
    tell_counts(state);
}

/* Ranks that wait are cut first. */
void on_report_in_cut(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];

    if (!rank.asked_at) {
        state.set_place(rank, event.message->as.report, event.now);
    }
}

void on_captured(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];

    if (!rank.answered) {
        state.refuse(event, "the rank has not been cut yet, so its memory cannot be copied");
        return;
    }
    rank.captured = true;
    if (!rank.resumed) {
        release(state, event.rank, event.now);
    }
    examine_logs(state, event.now);
}

void on_failed_in_cut(CutState &state, const CutEvent &event)
{
    state.mark_failed(event.reason);
    examine_logs(state, event.now);
}

void on_failed_in_close(CutState &state, const CutEvent &event)
{
    state.mark_failed(event.reason);
}

void on_tick_in_cut(CutState &state, const CutEvent &event)
{
    remind(state, event.now);
    pass_turns(state, event.now);
}

void on_written(CutState &state, const CutEvent &)
{
    CKPT_INVARIANT(!state.failure); /* of a failed one, no piece is finished */
    state.phase = Phase::commit;
    state.actions.push_back(action::Commit{});
}

} // namespace

/* A rank has made its cut, with or without an image. The cut cannot be undone. */
void on_cut(CutState &state, const CutEvent &event)
{
    RankState &rank = state.ranks[event.rank];
    const ckpt_message &message = *event.message;
    const bool refused = message.type == CKPT_MSG_REFUSED;
    const ckpt_cut_report &cut = refused ? message.as.refused.cut : message.as.ready.cut;

    rank.answered = true;
    rank.used = state.protocol->is_checkpoint ? ckpt_cut_due(&cut) : 1;
    if (refused) {
        state.mark_failed(refusal_by(event.rank, message), true);
    } else if ((message.as.ready.flags & (CKPT_READY_SHARED | CKPT_READY_LEADS_OUT)) != 0) {
        state.mark_failed(
            refusal(CKPT_REFUSAL_NEEDS_STOP, "rank {} shares memory or connections with others",
                    event.rank),
            true);
    }
    rank.hold(event.now);
    if (!state.failure) {
        state.actions.push_back(action::AddToPiece{event.rank, message.as.ready.snapshot});
    } else {
        release(state, event.rank, event.now);
    }
    examine_logs(state, event.now);
}

/* When a cut is completed, only `all` counts (docs/consistent-cuts.md, section 1). */
void on_complete(CutState &state, const CutEvent &event)
{
    const ckpt_msg_complete &complete = event.message->as.complete;

    state.ranks[event.rank].complete =
        state.protocol->is_checkpoint ? ckpt_cut_done(&complete) : complete.all;
    examine_logs(state, event.now);
}

void on_logged(CutState &state, const CutEvent &event)
{
    const ckpt_message &message = *event.message;

    state.ranks[event.rank].answered = true;
    if (message.type == CKPT_MSG_REFUSED) {
        state.mark_failed(refusal_by(event.rank, message));
    } else {
        state.crossed.messages += message.as.total.messages;
        state.crossed.bytes += message.as.total.bytes;
    }
    end_of_logs(state, event.now);
}

void on_tick_in_log(CutState &state, const CutEvent &event)
{
    remind(state, event.now);
}

/* ---- The tables ------------------------------------------------------------ */

namespace
{

constexpr const char *other_order = "the rank has got no such order: it follows another protocol";

constexpr PhaseRow moving_row = [] {
    PhaseRow row = attempt_row.with({
        {Event::finalized, does(on_loss, "given up at once; the rank cannot log its messages")},
        {Event::exited, does(on_loss, "given up at once; the rank cannot log its messages")},
        {Event::agent_lost,
         does(on_lost_in_cut, "given up at once; ranks that are not cut wait in doubt "
                              "until all are here")},
        {Event::stopped, violates(other_order)},
        {Event::drained, violates(other_order)},
        {Event::ready, ignores("the rank's first answer to CUT counts")},
        {Event::opened, ignores("the files are there")},
        {Event::sweep_failed, does(on_sweep_failed, "the coordinator will tell the counts")},
        {Event::failed, does(on_failed_in_cut, "the cut goes on to its end; nothing is kept")},
        {Event::tick, does(on_tick_in_log, "ranks are reminded of what they have to receive")},
    });
    row.failure = PhaseRow::Failure::finish_cut;
    row.limit = PhaseRow::Limit::until_failed;
    row.ranks_run = true;
    return row;
}();

constexpr PhaseRow open_row = [] {
    PhaseRow row = moving_row.with({
        {Event::agent_lost, attempt_row.on(Event::agent_lost)},
        {Event::ready, violates("no rank has an order to describe itself")},
        {Event::opened, does(on_opened, "CUT: to all ranks, or to the first of each lane")},
        {Event::failed, attempt_row.on(Event::failed)},
        {Event::tick, attempt_row.on(Event::tick)},
    });
    row.phase = Phase::open;
    row.title = "OPEN";
    row.failure = PhaseRow::Failure::undo;
    return row;
}();

constexpr PhaseRow cut_row = [] {
    PhaseRow row = moving_row.with({
        {Event::report, does(on_report_in_cut, "the rank's place is noted: of a lane, ranks that "
                                               "wait are cut first")},
        {Event::ready, first(on_cut, "the rank is cut, and is read")},
        {Event::refused, first(on_cut, "the rank is cut, but cannot be read: as `failed`, and "
                                       "Sync-and-Stop may be tried")},
        {Event::complete, does(on_complete, "the number of complete channels is noted")},
        {Event::logged, violates("the rank has closed its log before CLOSE")},
        {Event::captured, does(on_captured, "the rank runs on; the next one of its lane is cut; "
                                            "the last one: LOG")},
        {Event::tick, does(on_tick_in_cut, "ranks are reminded; a rank that does not answer loses "
                                           "its turn")},
    });
    row.phase = Phase::cut;
    row.title = "CUT";
    return row;
}();

constexpr PhaseRow log_row = [] {
    PhaseRow row = moving_row.with({
        {Event::complete, does(on_complete, "CLOSE, if all channels that were used are complete")},
        {Event::logged, violates("the rank has closed its log before CLOSE")},
        {Event::refused, violates("no order is unanswered")},
        {Event::sweep_failed, does(on_sweep_failed_in_log, "the coordinator tells the counts")},
    });
    row.phase = Phase::log;
    row.title = "LOG";
    row.done_name = "logged";
    return row;
}();

constexpr PhaseRow close_row = [] {
    PhaseRow row = moving_row.with({
        {Event::complete, ignores("all logs are complete")},
        {Event::logged, first(on_logged, "the last one: WRITE; or UNDO, if something has failed")},
        {Event::refused, first(on_logged, "the rank is closed, but has no log: as `failed`")},
        {Event::sweep_failed, ignores("all logs are complete")},
        {Event::failed, does(on_failed_in_close, "the cut goes on to its end; nothing is kept")},
    });
    row.phase = Phase::close;
    row.title = "CLOSE";
    row.done_name = "logged";
    return row;
}();

constexpr PhaseRow write_row = [] {
    PhaseRow row = attempt_row.with({
        {Event::finalized, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::exited, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::agent_lost, does(on_loss, "given up, unless the rank's memory is copied")},
        {Event::stopped, ignores("the rank's image and log are complete")},
        {Event::drained, ignores("the rank's image and log are complete")},
        {Event::ready, ignores("the rank's image and log are complete")},
        {Event::complete, ignores("all logs are complete")},
        {Event::logged, ignores("all logs are closed")},
        {Event::sweep_failed, ignores("all logs are complete")},
        {Event::captured, violates("all ranks were read before LOG")},
        {Event::written, does(on_written, "COMMIT")},
        {Event::committed, violates("no manifest may exist before all pieces do")},
    });
    row.phase = Phase::write;
    row.title = "WRITE (logs)";
    row.failure = PhaseRow::Failure::undo;
    row.limit = PhaseRow::Limit::request;
    row.done = PhaseRow::Done::captured;
    return row;
}();

static_assert(is_whole(open_row) && is_whole(cut_row) && is_whole(log_row));
static_assert(is_whole(close_row) && is_whole(write_row));
/* Once a rank is cut, the cut goes on to its end, with no time limit after a failure. */
static_assert(cut_row.failure == PhaseRow::Failure::finish_cut &&
              log_row.failure == PhaseRow::Failure::finish_cut &&
              close_row.failure == PhaseRow::Failure::finish_cut);

/* The coordinator tells the counts, whatever happens to a sweep. */
constexpr Cell no_sweep = ignores("the coordinator tells the counts, in this protocol");
constexpr PhaseRow marker_open_row = open_row.with({{Event::sweep_failed, no_sweep}});
constexpr PhaseRow marker_cut_row = cut_row.with({{Event::sweep_failed, no_sweep}});
constexpr PhaseRow marker_log_row = log_row.with({{Event::sweep_failed, no_sweep}});

} // namespace

constinit const CutDescription chandy_lamport = {
    .name = "Chandy-Lamport",
    .protocol = Protocol::chandy_lamport,
    .is_checkpoint = true,
    .alignment = CollectiveTargets::Rule::ranks_run_on,
    .cut = CKPT_CUT_MARKERS,
    .counts = Counts::coordinator,
    .aligned = aligned,
    .rows = rows_of({&idle_row, &align_row, &marker_open_row, &marker_cut_row, &marker_log_row,
                     &close_row, &write_row, &commit_row, &undo_row}),
};

constinit const CutDescription network_sweep = {
    .name = "Network sweeping",
    .protocol = Protocol::network_sweep,
    .is_checkpoint = true,
    .alignment = CollectiveTargets::Rule::ranks_run_on,
    .cut = CKPT_CUT_SWEEP,
    .counts = Counts::sweep,
    .aligned = aligned,
    .rows = rows_of({&idle_row, &align_row, &open_row, &cut_row, &log_row, &close_row, &write_row,
                     &commit_row, &undo_row}),
};

} // namespace ckpt
