/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery_partners.cpp - a recovery on several nodes: orders of the coordinator, and reports to
 * it.
 */
#include "agent/recovery/recovery.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace ckpt
{

using Order = RecoveryOrder::Step;
using Report = RecoveryReport::Step;

Partners::Hooks Recovery::partner_hooks()
{
    Partners::Hooks hooks;

    hooks.ordered = [this](const RecoveryOrder &order) { ordered(order); };
    hooks.reported = [this](const std::string &host, const RecoveryReport &report) {
        reported(host, report);
    };
    hooks.lost = [this](const std::string &host) { partner_lost(host); };
    hooks.next_world = [this](const NextWorldOrder &order) {
        worlds_.prepare_as(order.name, order.nodes);
    };
    hooks.fence_over = [this](const world::FenceResult &result) { worlds_.end_fence(result); };
    return hooks;
}

/* ---- For all nodes -------------------------------------------------------------------- */

/* Of a rank on another node its own agent knows it. */
bool Recovery::has_ended(int rank) const
{
    const auto known = processes_.find(rank);
    return known == processes_.end() || !known->second.process;
}

/* Of all ranks on this node. */
bool Recovery::copies_are_complete() const
{
    return !processes_.empty() &&
           local_.kept_copies().is_complete(static_cast<int>(processes_.size()));
}

/* The program has called MPI_Abort, or MPICH has lost a peer that has died. If a recovery is under
 * way, the process ends anyway, or its attempt fails. */
void Recovery::aborted(int rank, int code)
{
    if (phase_ != Phase::idle) {
        spdlog::info("rank {} has called MPI_Abort with code {} during a recovery", rank, code);
    } else if (partners_.follows()) {
        partners_.report({.step = Report::aborted, .rank = rank, .code = code});
    } else {
        hooks_.aborted(rank, code);
    }
}

/* ---- The coordinator's node ------------------------------------------------------------- */

/* What only the coordinator's agent can know. */
std::string Recovery::obstacle_of_job() const
{
    if (partners_.follows()) {
        return {};
    }
    if (uses_shells_ && !launcher_streams_ && partners_.empty() && local_.shells().empty() &&
        local_.ranks().empty()) {
        return no_process_left;
    }
    if (!hooks_.is_supervised()) {
        return "ckpt run has gone";
    }
    return partners_.obstacle(worlds_.nodes());
}

/* mpirun goes on as long as it has a process on any node. */
bool Recovery::shells_are_missing() const
{
    return uses_shells_ && local_.shells().empty() && partners_.shells() == 0;
}

void Recovery::reported(const std::string &host, const RecoveryReport &report)
{
    switch (report.step) {
    case Report::died:
        partner_died(host, report);
        break;
    case Report::returned:
        if (phase_ == Phase::awaiting && report.rank == dead_) {
            has_returned();
        }
        break;
    case Report::able:
        if (phase_ == Phase::awaiting && !report.why.empty()) {
            partner_failure_ = fmt::format("{}: {}", host, report.why);
        }
        break;
    case Report::aborted:
        aborted(report.rank, report.code);
        break;
    case Report::failed:
        if (phase_ == Phase::idle) {
            break;
        }
        partner_failure_ = fmt::format("{}: {}", host, report.why);
        if (report.is_final) {
            attempts_ = most_attempts;
        }
        break;
    case Report::ended:
    case Report::alive:
        break; /* look() reads them */
    }
}

/* If a recovery is under way, its orders concern this rank, too. */
void Recovery::partner_died(const std::string &host, const RecoveryReport &report)
{
    if (phase_ != Phase::idle) {
        return;
    }
    const std::string why = is_stopped_           ? "the end of the job was requested"
                            : !report.why.empty() ? fmt::format("{}: {}", host, report.why)
                                                  : obstacle(report.rank);
    if (why.empty()) {
        begin(report.rank);
    } else {
        not_begun(report.rank, why);
    }
}

void Recovery::partner_failed()
{
    const std::string why = std::exchange(partner_failure_, {});

    if (phase_ == Phase::thawing) {
        attempt_failed(why);
    } else {
        fail(why);
    }
}

/* host: ""; it is the coordinator's agent. */
void Recovery::partner_lost(const std::string &host)
{
    if (phase_ == Phase::idle) {
        return;
    }
    if (!partners_.follows()) {
        partner_failure_ = fmt::format("the agent of {} has gone", host);
        attempts_ = most_attempts;
    } else if (phase_ == Phase::awaiting) {
        settle();
    } else {
        fail("the connection to the coordinating agent is lost");
    }
}

/* ---- The other nodes -------------------------------------------------------------------- */

/* The coordinator decides whether all go back. */
void Recovery::died(int rank, const std::string &why)
{
    if (why.empty()) {
        began_ = Clock::now();
        dead_ = rank;
        phase_ = Phase::awaiting;
    }
    partners_.report({.step = Report::died, .rank = rank, .why = why});
}

void Recovery::report(RecoveryReport::Step step, const std::string &why)
{
    partners_.report({.step = step, .rank = std::max(dead_, 0), .why = why});
}

void Recovery::ordered(const RecoveryOrder &order)
{
    switch (order.step) {
    case Order::ask:
        asked(order);
        break;
    case Order::end:
        ordered_to_end();
        break;
    case Order::thaw:
        ordered_to_thaw(order);
        break;
    case Order::done:
        if (phase_ == Phase::thawing) {
            done();
        }
        break;
    case Order::give_up:
        if (phase_ == Phase::awaiting) {
            settle(); /* nothing has been ended */
        } else if (phase_ != Phase::idle) {
            spdlog::warn("no recovery in place: {}", order.why);
            clean_up(order.why);
            settle();
        }
        break;
    }
}

/* A rank of this node that has disconnected must have ended before the answer. */
void Recovery::asked(const RecoveryOrder &order)
{
    std::string why;

    if (is_stopped_) {
        why = "the end of the job was requested";
    } else if (phase_ != Phase::idle && phase_ != Phase::awaiting) {
        why = "it is still going back";
    } else if (local_.kept_copies().number() != order.number) {
        why = fmt::format("its copies are of checkpoint {}", local_.kept_copies().number());
    } else {
        why = obstacle(order.rank);
    }
    if (!why.empty()) {
        report(Report::able, why);
        return;
    }
    if (phase_ == Phase::idle) {
        phase_ = Phase::awaiting;
        began_ = Clock::now();
        dead_ = order.rank;
    }
    must_answer_ = true;
}

/* At the beginning, or after an attempt that has failed somewhere. */
void Recovery::ordered_to_end()
{
    if (phase_ == Phase::idle) {
        partners_.report({.step = Report::failed, .is_final = true, .why = "it has given up"});
    } else if (phase_ == Phase::awaiting) {
        end_others();
    } else {
        end_copies();
        entered_.reset();
        trouble_.clear();
        has_reported_ = false;
        phase_ = Phase::ending;
        timer_.start(longest_end);
    }
}

void Recovery::ordered_to_thaw(const RecoveryOrder &order)
{
    if (phase_ != Phase::ready) {
        fail("it is not ready");
    } else if (local_.kept_copies().number() != order.number) {
        fail(fmt::format("it has no copies of checkpoint {}", order.number));
    } else if (worlds_.next() != order.world) {
        fail(fmt::format("world {} is not registered: {}", order.world, worlds_.obstacle()));
    } else {
        checkpoint_ = order.checkpoint;
        has_reported_ = false;
        entered_ = worlds_.enter(); /* at once: the coordinator is about to name the next one */
        roll_back();
    }
}

void Recovery::look_as_follower()
{
    if (phase_ == Phase::awaiting && must_answer_ && has_ended(dead_)) {
        must_answer_ = false;
        report(Report::able);
    }
    if (phase_ == Phase::ending && std::exchange(is_overdue_, false)) {
        overdue();
    }
    if (phase_ == Phase::ending && all_have_ended() && !worlds_.is_coming()) {
        timer_.stop();
        phase_ = Phase::ready;
        partners_.report({.step = Report::ended, .shells = local_.shells().count()});
    }
    if (phase_ == Phase::thawing && !has_reported_ && !trouble_.empty()) {
        timer_.stop();
        has_reported_ = true;
        partners_.report({.step = Report::failed,
                          .is_final = attempts_ == most_attempts,
                          .why = std::exchange(trouble_, {})});
    }
    if (phase_ == Phase::thawing && !has_reported_ &&
        std::ranges::all_of(thawing_,
                            [](const auto &entry) { return entry.second->is_connected(); })) {
        timer_.stop();
        has_reported_ = true;
        report(Report::alive);
    }
}

} // namespace ckpt
