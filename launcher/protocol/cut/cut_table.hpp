/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_table.hpp - the protocols as tables: which phases a protocol has, and what each event does in
 * each of them. docs/consistent-cuts.md, section 7, has the same tables as text.
 *
 * A protocol is a constant. The state machine (protocol/cut/cut_state.hpp) looks up the cell of the
 * present phase for each event; nothing else decides what an event does.
 */
#pragma once

#include "protocol/cut/collective_targets.hpp"
#include "protocol/cut/cut_event.hpp"
#include "protocol/cut/cut_phase.hpp"
#include "protocol/protocol.hpp"

#include "ckpt/wire.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace ckpt
{

struct CutState;
using Handler = void (*)(CutState &state, const CutEvent &event);

/* What an event does in a phase. */
struct Cell {
    enum class Kind {
        undecided, /* no row of a protocol has such a cell */
        handled,
        first, /* the rank's first answer in this phase is handled, a further one ignored */
        ignored,
        violation, /* cannot happen in a correct job: the checkpoint is refused, ranks go on */
    };
    Kind kind = Kind::undecided;
    const char *note = ""; /* what happens, or why nothing does, or why it cannot happen */
    Handler handle = nullptr;
};

constexpr Cell does(Handler handle, const char *what)
{
    return {Cell::Kind::handled, what, handle};
}
constexpr Cell first(Handler handle, const char *what)
{
    return {Cell::Kind::first, what, handle};
}
constexpr Cell ignores(const char *why)
{
    return {Cell::Kind::ignored, why};
}
constexpr Cell violates(const char *why)
{
    return {Cell::Kind::violation, why};
}

/* One phase of a protocol. */
struct PhaseRow {
    /* What a failure does. */
    enum class Failure {
        none,    /* nothing can fail */
        give_up, /* all ranks go on, and the checkpoint is over */
        undo,    /* the same, and then its files are removed */
        /* the cut goes on to its end; nothing is kept. If a rank is missing, as undo */
        finish_cut,
        give_up_cut, /* all ranks go on. There is no checkpoint that could fail. */
    };
    /* The time limit in this phase. */
    enum class Limit {
        none,
        agreement,   /* that of the request, or with a proxy until all ranks agree */
        request,     /* that of the request */
        until_failed /* the same, but none for a cut that only has to be finished */
    };
    /* What makes a rank count as through with the phase. */
    enum class Done {
        aligned,
        answered,
        captured
    };

    Phase phase{};
    const char *title = ""; /* in the tables */
    Failure failure{};
    Limit limit{};
    Done done = Done::answered;
    const char *done_name = "ready"; /* the state of a rank that has answered */
    bool ranks_run = false;          /* while the checkpoint is taken */
    std::array<Cell, event_count> cells{};

    constexpr const Cell &on(Event event) const
    {
        return cells[static_cast<std::size_t>(event)];
    }
    /* Returns a copy with other cells. */
    constexpr PhaseRow with(std::initializer_list<std::pair<Event, Cell>> others) const
    {
        PhaseRow row = *this;
        for (const auto &[event, cell] : others) {
            row.cells[static_cast<std::size_t>(event)] = cell;
        }
        return row;
    }
};

/* Whether each event is decided in this phase, and what is to be handled has a handler. */
constexpr bool is_whole(const PhaseRow &row)
{
    for (const Cell &cell : row.cells) {
        const bool needs_handler =
            cell.kind == Cell::Kind::handled || cell.kind == Cell::Kind::first;
        if (cell.kind == Cell::Kind::undecided || needs_handler != (cell.handle != nullptr)) {
            return false;
        }
    }
    return row.title[0] != '\0';
}

/* Who tells the ranks how many messages they still have to receive. */
enum class Counts {
    nobody, /* no rank has sent a message since the last cut */
    coordinator,
    sweep, /* the agents */
};

/* A protocol. */
struct CutDescription {
    const char *name;
    Protocol protocol;  /* that the checkpoint names */
    bool is_checkpoint; /* else a cut is completed, and no checkpoint results */
    CollectiveTargets::Rule alignment;
    ckpt_cut cut;  /* in CUT; without a meaning if all ranks stop */
    Counts counts; /* in log; without a meaning if all ranks stop */
    /* What follows align; null if the protocol has no align. */
    void (*aligned)(CutState &state, std::chrono::steady_clock::time_point now);
    std::array<const PhaseRow *, phase_count> rows; /* by phase; null: not in this protocol */

    constexpr bool ranks_run_on() const
    {
        return alignment == CollectiveTargets::Rule::ranks_run_on;
    }
    constexpr const PhaseRow *row(Phase phase) const
    {
        return rows[static_cast<std::size_t>(phase)];
    }
};

/* Puts the rows of a protocol at the places of their phases. */
constexpr std::array<const PhaseRow *, phase_count>
rows_of(std::initializer_list<const PhaseRow *> list)
{
    std::array<const PhaseRow *, phase_count> rows{};
    for (const PhaseRow *row : list) {
        rows[static_cast<std::size_t>(row->phase)] = row;
    }
    return rows;
}

/* The protocols, in the order of enum Protocol, and at last the completion of a cut that the loss
 * of an agent has left open. */
std::span<const CutDescription *const> cut_descriptions();
const CutDescription &description_of(Protocol protocol);
extern const CutDescription sync_and_stop;
extern const CutDescription chandy_lamport;
extern const CutDescription network_sweep;
extern const CutDescription cut_completion;

} // namespace ckpt
