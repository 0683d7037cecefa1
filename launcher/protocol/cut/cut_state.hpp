/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_state.hpp - the state of the coordinator's machine, and the steps that several protocols
 * share. Only the handlers in the protocols' tables change it (protocol/cut/cut_table.hpp).
 */
#pragma once

#include "common/refusal.hpp"
#include "protocol/cut/actions.hpp"
#include "protocol/cut/collective_targets.hpp"
#include "protocol/cut/cut_event.hpp"
#include "protocol/cut/cut_phase.hpp"
#include "protocol/cut/cut_plan.hpp"
#include "protocol/cut/cut_table.hpp"
#include "protocol/cut/rank_pages.hpp"
#include "protocol/cut/rank_state.hpp"
#include "protocol/cut/stall_watch.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

struct CutOptions {
    using Duration = std::chrono::steady_clock::duration;

    Duration timeout = std::chrono::minutes(30); /* of a whole request */
    /* Time without any progress after which a gate is opened (stall). */
    Duration stall_timeout = std::chrono::milliseconds(10);
    Duration long_stall_timeout = std::chrono::milliseconds(500);
    /* How often ranks are reminded that messages cross the cut. */
    Duration reminder = std::chrono::milliseconds(10);
    /* How long a rank may take to answer CUT while others of its lane wait. */
    Duration turn = std::chrono::milliseconds(100);
};

/* Seconds, of one checkpoint. */
struct CutTimes {
    double request_to_stop = 0;
    double stop = 0; /* the longest stop of any rank */
    double drain = 0;
    double capture = 0;
    double commit = 0;
    double total = 0;
};

/* Messages that crossed a cut. */
struct CrossingMessages {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

/* Why a checkpoint has failed. */
struct CutFailure {
    Refusal reason;
    bool may_retry = false; /* Sync-and-Stop does not have one of the reasons */
};

struct CutState {
    using Time = std::chrono::steady_clock::time_point;

    CutState(int rank_count, const RankPages &pages, CutOptions options);

    /* Does what the table of the present protocol says. */
    void handle(const CutEvent &event);
    /* Refuses the checkpoint, as the event shows that it may be wrong. */
    void refuse(const CutEvent &event, std::string_view why);
    const PhaseRow &row() const;
    int rank_count() const { return static_cast<int>(ranks.size()); }
    int present() const;      /* ranks that are connected and have not finished */
    Refusal obstacle() const; /* why no checkpoint can begin; empty if one can */
    std::optional<Time> deadline() const;
    bool is_settling() const { return !protocol->is_checkpoint && phase != Phase::idle; }
    /* A rank is open, or an agent was lost before this could be known. */
    bool any_may_be_open() const;
    bool any_synchronous() const;
    Clocks read_clocks() const;
    bool all_answered() const;

    /* Begins a phase, in which no rank has answered yet. Requires what holds at its begin. */
    void enter(Phase next, Time now);
    void send(int rank, ckpt_message_type type, bool signal, const ckpt_message_body &body = {},
              std::string_view text = {});
    /* Makes the counts known to the rank that it has to expect of its peers. */
    void set_expected(int rank);
    void write_targets(const Clocks &clocks);
    void let_continue(RankState &rank, Time now);
    void set_place(RankState &rank, const ckpt_msg_report &report, Time now);

    /* Notes that the checkpoint has failed. The first reason counts. */
    void mark_failed(Refusal reason, bool may_retry = false);
    /* Gives up the checkpoint; the job goes on in every case. */
    void give_up(Refusal reason, Time now);
    void finish(bool committed, Time now);

    const RankPages &pages;
    const CutOptions options;
    std::vector<RankState> ranks;
    std::vector<Action> actions;

    const CutDescription *protocol = &sync_and_stop;
    Phase phase = Phase::idle;
    std::uint64_t epoch = 0;
    CutPlan plan;
    CollectiveTargets targets;
    StallWatch stall;
    Counts counts = Counts::nobody;
    int times_saved = 0; /* since the last DRAIN */
    std::optional<CutFailure> failure;
    /* An agent was lost, or has replaced a lost one: some ranks may have another colour than
     * others. Outlives the checkpoint. */
    bool colours_may_differ = false;
    Time last_reminder{};
    Time requested_at{};
    Time phase_began{};

    CutTimes times;
    CrossingMessages crossed;
    int waiting_at_cut = 0; /* ranks that waited for others when the first rank was cut */

  private:
    void require_entry(Phase next) const;
    void require_fields(const CutEvent &event) const;
};

/* Returns the text of a message. */
std::string text_of(const ckpt_message &message);
/* Returns the refusal of a rank, from its message. */
Refusal refusal_by(int rank, const ckpt_message &message);

/* ---- Steps that other files' tables use ---------------------------------- */

/* Examines all ranks: goes on to what follows align, or lets those ranks run that have to. */
void align(CutState &state, CutState::Time now);
/* Notes what a REPORT says about the collectives and the sends of its rank. Returns whether it also
 * says where the rank as a whole is. */
bool note_report(RankState &rank, const ckpt_msg_report &report);
/* Orders the ranks to stop. */
void stop(CutState &state, CutState::Time now);
/* Has the agents make the files of a checkpoint during which ranks run. */
void open_pieces(CutState &state, CutState::Time now);
/* Orders a rank to be cut. */
void order_cut(CutState &state, int rank, CutState::Time now);
/* Goes on when all ranks have been cut, run again, and have all messages that they lacked. */
void examine_logs(CutState &state, CutState::Time now);
/* Acts when all ranks are connected again after the loss of an agent. */
void settle(CutState &state, CutState::Time now);

} // namespace ckpt
