/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_protocol.hpp - the coordinator's state machine by which the ranks of a job agree on a
 * consistent cut. Events go in, and actions come out. No call blocks, reads a descriptor or looks
 * at a clock (docs/protocol.md, sections 4 to 6; docs/consistent-cuts.md).
 *
 * What an event does is in the table of the protocol (protocol/cut/cut_table.hpp).
 */
#pragma once

#include "protocol/cut/actions.hpp"
#include "protocol/cut/cut_phase.hpp"
#include "protocol/cut/cut_plan.hpp"
#include "protocol/cut/cut_state.hpp"
#include "protocol/protocol.hpp"
#include "protocol/rank_cut.hpp"
#include "protocol/cut/rank_pages.hpp"

#include "ckpt/wire.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

class CutProtocol
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;
    using Options = CutOptions;
    using Times = CutTimes;
    using Logged = CrossingMessages;

    /* `pages` must outlive the machine. rank_count: above 0. */
    CutProtocol(int rank_count, const RankPages &pages, Options options);

    /* Why the present or latest attempt was given up; "" if it was not. */
    const Refusal &reason() const;

    /* Events. Each may request actions, to be taken and performed in order. `rank`: of the job. */
    void hello(int rank, const RankCut &cut = {}, Time now = {});
    void finalized(int rank, Time now);
    void exited(int rank, Time now);
    /* The rank's agent is lost. The rank will return, unless it dies as well. */
    void agent_lost(int rank, Time now);
    /* Begins a checkpoint; if there is an obstacle(), Finish with it is the only action.
     * epoch: above 0. */
    void request(std::uint64_t epoch, Time now, const CutPlan &plan = {});
    void message(int rank, const ckpt_message &message, Time now);
    void opened(Time now);
    /* The agents cannot tell the ranks their message counts. */
    void sweep_failed();
    void captured(int rank, Time now);
    void written(Time now);
    void committed(Time now);
    void failed(Refusal reason, Time now);
    void undone(Time now);
    /* The passing of time: call every few milliseconds in phase align, as
     * only a rank's page shows that the rank enters a collective. Call also
     * at deadline(). */
    void tick(Time now);

    std::vector<Action> take_actions();

    /* Returns why no checkpoint can be requested now; "" if one can. */
    Refusal obstacle() const { return state_.obstacle(); }
    /* Returns why no proxy can replace a rank that has just gone; "" if one can. */
    Refusal proxy_obstacle() const;
    /* Whether a further request may share the checkpoint under way: no rank
     * has got STOP yet. */
    bool may_join() const { return phase() == Phase::align; }
    /* Requires may_join(). */
    void join(bool kill);
    /* Whether the ranks are killed after this checkpoint. */
    bool will_kill() const { return state_.plan.kill; }

    Phase phase() const { return state_.phase; }
    std::uint64_t epoch() const { return state_.epoch; }
    int rank_count() const { return state_.rank_count(); }
    int present() const { return state_.present(); } /* connected, and have not finished */
    bool ending() const;                             /* a rank has finished or died */
    bool has_finished() const;                       /* all ranks have finished */
    double elapsed(Time now) const;                  /* seconds since the request */
    /* ranks that have completed the present phase */
    int ranks_done() const;
    const char *state_name(int rank) const;
    bool stands_still(int rank) const; /* as far as it has reported */
    std::optional<Time> deadline() const { return state_.deadline(); }
    const Times &times() const { return state_.times; }
    const Logged &logged() const { return state_.crossed; }
    /* Number of ranks that waited for others when the first rank was cut. */
    int waiting_at_cut() const { return state_.waiting_at_cut; }
    /* The protocol of the present or latest checkpoint. In phase align it may still fall back. */
    Protocol protocol() const { return state_.protocol->protocol; }
    /* Ranks run on while the checkpoint is taken. */
    bool is_moving() const { return state_.row().ranks_run; }
    /* The loss of an agent has ended the checkpoint, and only its cut is being completed
     * (docs/consistent-cuts.md, section 1, rule 9). No checkpoint is taken. */
    bool is_settling() const { return state_.is_settling(); }
    /* The agents tell the ranks their message counts. */
    bool is_sweeping() const { return is_moving() && state_.counts == Counts::sweep; }

  private:
    CutEvent event_of_rank(Event kind, int rank, Time now) const;

    CutState state_;
};

} // namespace ckpt
