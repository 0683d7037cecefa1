/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_state.cpp - looks up what an event does; failures, and the end of a checkpoint.
 */
#include "protocol/cut/cut_state.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ckpt
{

namespace
{

double seconds(CutState::Time::duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

} // namespace

std::string text_of(const ckpt_message &message)
{
    return {message.text, strnlen(message.text, sizeof message.text)};
}

Refusal refusal_by(int rank, const ckpt_message &message)
{
    return refusal(refusal_of(message.as.refused.identity), "rank {}: {}", rank, text_of(message));
}

CutState::CutState(int rank_count, const RankPages &rank_pages, CutOptions cut_options)
    : pages(rank_pages), options(cut_options), ranks(rank_count)
{
}

/* What a protocol does not have, it does not enter. */
const PhaseRow &CutState::row() const
{
    CKPT_INVARIANT(protocol->row(phase) != nullptr);
    return *protocol->row(phase);
}

/* Requires that the event has the fields that its kind promises (protocol/cut/cut_event.hpp): the
 * handlers do not look whether they are there. */
void CutState::require_fields(const CutEvent &event) const
{
    const bool is_message = event.kind >= Event::report && event.kind <= Event::refused;
    const bool of_rank = is_message || event.kind == Event::captured ||
                         (event.kind >= Event::hello && event.kind <= Event::agent_lost);

    CKPT_EXPECT(of_rank ? event.rank >= 0 && event.rank < rank_count() : event.rank < 0);
    CKPT_EXPECT(is_message == (event.message != nullptr));
    CKPT_EXPECT((event.kind == Event::hello) == (event.known != nullptr));
    CKPT_EXPECT((event.kind == Event::request) == (event.plan != nullptr));
}

/*
 * Messages of a rank arrive in the order in which it sent them, and each phase
 * begins when all ranks have answered the previous one. So a second answer of a rank in a phase
 * belongs to a round that was broken off, and is dropped.
 */
void CutState::handle(const CutEvent &event)
{
    const Cell &cell = row().on(event.kind);

    require_fields(event);
    switch (cell.kind) {
    case Cell::Kind::first:
        if (ranks[event.rank].answered) {
            break;
        }
        [[fallthrough]];
    case Cell::Kind::handled:
        cell.handle(*this, event);
        break;
    case Cell::Kind::violation:
        refuse(event, cell.note);
        break;
    case Cell::Kind::ignored:
    case Cell::Kind::undecided:
        break;
    }
}

void CutState::refuse(const CutEvent &event, std::string_view why)
{
    const std::string of_rank = event.rank < 0 ? "" : fmt::format(" of rank {}", event.rank);
    CutEvent failed{Event::failed, event.now};

    failed.reason = refusal(CKPT_REFUSAL_INTERNAL_ERROR, "unexpected event '{}'{} in phase {}: {}",
                            event_name(event.kind), of_rank, row().title, why);
    handle(failed);
}

int CutState::present() const
{
    return static_cast<int>(std::ranges::count(ranks, RankState::Presence::here,
                                               &RankState::presence));
}

Refusal CutState::obstacle() const
{
    const int begun = present();

    for (int i = 0; i < rank_count(); i++) {
        if (ranks[i].presence == RankState::Presence::finished) {
            return refusal(CKPT_REFUSAL_JOB_ENDING, "rank {} has already called MPI_Finalize", i);
        }
        if (ranks[i].presence == RankState::Presence::gone) {
            return refusal(CKPT_REFUSAL_RANK_DIED, "rank {} has died: the job is ending", i);
        }
    }
    if (begun < rank_count()) {
        return refusal(CKPT_REFUSAL_JOB_STARTING,
                       "the job is still starting: {} of {} ranks have called MPI_Init", begun,
                       rank_count());
    }
    return {};
}

std::optional<CutState::Time> CutState::deadline() const
{
    const PhaseRow::Limit limit = row().limit;

    if (limit == PhaseRow::Limit::none ||
        (limit == PhaseRow::Limit::until_failed && failure.has_value())) {
        return {};
    }
    const bool is_short = plan.replayed >= 0 && limit == PhaseRow::Limit::agreement;
    return requested_at + (is_short ? plan.agree_within : options.timeout);
}

bool CutState::any_may_be_open() const
{
    return std::ranges::any_of(ranks, [](const RankState &rank) {
        return rank.watch.cut().may_be_open();
    });
}

bool CutState::any_synchronous() const
{
    return std::ranges::any_of(ranks, &RankState::synchronous);
}

Clocks CutState::read_clocks() const
{
    Clocks clocks;

    clocks.reserve(ranks.size());
    for (int i = 0; i < rank_count(); i++) {
        clocks.push_back(pages.clocks(i));
    }
    return clocks;
}

bool CutState::all_answered() const
{
    return std::ranges::all_of(ranks, &RankState::answered);
}

/*
 * What holds for the ranks when a phase begins. These are not conditions on what ranks say, but on
 * what the handlers have made of it: whatever a rank says, a phase begins only when these hold.
 */
void CutState::require_entry(Phase next) const
{
    CKPT_EXPECT(protocol->row(next) != nullptr);
    switch (next) {
    case Phase::align:
        CKPT_EXPECT(present() == rank_count() && !failure);
        break;
    case Phase::stop: /* the targets are those of all ranks' clocks */
        CKPT_EXPECT(std::ranges::all_of(ranks, &RankState::reported));
        break;
    case Phase::drain: /* no rank sends */
        CKPT_EXPECT(all_answered() && std::ranges::all_of(ranks, [](const RankState &rank) {
                        return rank.holds || rank.place == CKPT_PLACE_INSIDE;
                    }));
        break;
    case Phase::save: /* no message is in flight, and no rank has left its collective */
        CKPT_EXPECT(all_answered() && std::ranges::none_of(ranks, &RankState::left_early));
        break;
    case Phase::log: /* all ranks have their new colour, and run */
        CKPT_EXPECT(all_answered() && std::ranges::all_of(ranks, &RankState::resumed));
        break;
    case Phase::write: /* the ranks' states are fixed: all stand still, or are read and closed */
        CKPT_EXPECT(all_answered() && !failure && !any_may_be_open());
        CKPT_EXPECT(std::ranges::all_of(ranks, protocol->row(Phase::log) == nullptr
                                                   ? &RankState::holds
                                                   : &RankState::captured));
        break;
    default:
        break;
    }
}

void CutState::enter(Phase next, Time now)
{
    require_entry(next);
    phase = next;
    phase_began = now;
    for (RankState &rank : ranks) {
        rank.answered = false;
    }
}

void CutState::send(int rank, ckpt_message_type type, bool signal, const ckpt_message_body &body,
                    std::string_view text)
{
    ranks[rank].watch.ordered(type, epoch, body);
    actions.push_back(action::Send{rank, type, signal, body, std::string(text)});
}

void CutState::set_expected(int rank)
{
    CKPT_EXPECT(phase == Phase::drain || phase == Phase::log); /* before, a peer may still send */
    std::vector<std::uint64_t> expected;

    for (int peer = 0; peer < rank_count(); peer++) {
        expected.push_back(pages.sent(peer, rank));
    }
    actions.push_back(action::SetExpected{rank, std::move(expected)});
}

void CutState::write_targets(const Clocks &clocks)
{
    for (int i = 0; i < rank_count(); i++) {
        std::vector<std::uint64_t> wanted = targets.of(clocks[i]);
        if (!std::ranges::equal(clocks[i], wanted, {}, &ckpt_clock::target)) {
            actions.push_back(action::SetTargets{i, std::move(wanted)});
        }
    }
}

void CutState::let_continue(RankState &rank, Time now)
{
    times.stop = std::max(times.stop, rank.let_continue(now));
}

void CutState::set_place(RankState &rank, const ckpt_msg_report &report, Time now)
{
    times.stop = std::max(times.stop, rank.set_place(report, now));
}

/* ---- The end ------------------------------------------------------------ */

void CutState::mark_failed(Refusal reason, bool may_retry)
{
    if (!failure) {
        failure = CutFailure{std::move(reason)};
    }
    failure->may_retry = failure->may_retry || may_retry;
}

void CutState::give_up(Refusal reason, Time now)
{
    for (int i = 0; i < rank_count(); i++) {
        RankState &rank = ranks[i];
        if (rank.presence == RankState::Presence::here && !rank.resumed) {
            let_continue(rank, now);
            send(i, CKPT_MSG_RESUME, false, {.end = {CKPT_GIVEN_UP}}, reason.text());
        }
    }
    failure = CutFailure{std::move(reason), failure && failure->may_retry};
    switch (row().failure) {
    case PhaseRow::Failure::undo:
    case PhaseRow::Failure::finish_cut:
        phase = Phase::undo;
        actions.push_back(action::Undo{});
        break;
    case PhaseRow::Failure::give_up:
        finish(false, now);
        break;
    case PhaseRow::Failure::give_up_cut:
        phase = Phase::idle;
        break;
    case PhaseRow::Failure::none:
        break;
    }
}

void CutState::finish(bool committed, Time now)
{
    CKPT_EXPECT(committed != failure.has_value()); /* it exists, or there is a reason */
    const CutFailure end = failure.value_or(CutFailure{});

    times.total = seconds(now - requested_at);
    phase = Phase::idle;
    actions.push_back(action::Finish{committed, end.reason, end.may_retry});
    settle(*this, now);
}

} // namespace ckpt
