/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_watch.cpp - the first failure of a launch, and the steps that follow from it.
 */
#include "supervise/launch_watch.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

void LaunchWatch::fail(Failure failure, Time end_at)
{
    if (!failure_) {
        failure_ = std::move(failure);
    }
    if (!is_ending()) {
        end_at_ = std::min(end_at_, end_at);
    }
    CKPT_INVARIANT(failure_);
}

void LaunchWatch::rank_here(int rank, const std::string &host)
{
    CKPT_EXPECT(rank >= 0); /* -1: a process without a rank */
    Rank &known = ranks_[rank];

    known.host = host;
    known.has_ended = false; /* it may have executed another program */
    known.has_status = false;
    known.is_salvaging = false;
    known.why_not_salvaged.clear();
    known.stopped_since.reset(); /* if it is stopped, its new agent reports that again */
    if (returning_.erase(rank) > 0 && returning_.empty() && has_recovered_) {
        end_recovery();
    }
}

void LaunchWatch::rank_finished(int rank)
{
    ranks_[rank].is_finished = true;
}

Failure LaunchWatch::end_of(int rank) const
{
    const Rank &known = ranks_.at(rank);
    Failure failure;

    failure.kind = Failure::Kind::rank_ended;
    failure.rank = rank;
    failure.host = known.host;
    failure.is_finished = known.is_finished;
    failure.why_not_salvaged = known.why_not_salvaged;
    return failure;
}

void LaunchWatch::rank_ended(int rank, Time now)
{
    Rank &known = ranks_[rank];

    known.has_ended = true;
    known.stopped_since.reset();
    if (known.is_finished || tolerant_ || recovering_) {
        return;
    }
    fail(end_of(rank), known.is_salvaging ? Time::max() : now + time_to_end());
}

void LaunchWatch::rank_status(int rank, int status, Time now)
{
    ranks_[rank].has_status = true;
    if (acts_ && !tolerant_ && status != 0 && ranks_[rank].is_finished) {
        fail(end_of(rank), now);
    }
    if (!failure_ || failure_->kind != Failure::Kind::rank_ended ||
        failure_->rank != rank || failure_->status) {
        return;
    }
    if (status == 0 && !acts_ && !is_ending()) {
        failure_.reset(); /* a program may omit MPI_Finalize; the launcher decides */
        end_at_ = Time::max();
        return;
    }
    failure_->status = status;
}

void LaunchWatch::process_failed(int rank, int status, Time now)
{
    if (rank >= 0) {
        rank_ended(rank, now);
        rank_status(rank, status, now);
        return;
    }
    Failure failure;
    failure.kind = Failure::Kind::rank_ended;
    failure.status = status;
    fail(std::move(failure), now + time_to_end());
}

/* ---- Salvages ------------------------------------------------------------------ */

void LaunchWatch::rank_salvaging(int rank)
{
    ranks_[rank].is_salvaging = !tolerant_;
    if (failure_ && failure_->rank == rank && !tolerant_) {
        end_at_ = Time::max(); /* until the result of the salvage is known */
    }
}

/* The agent has ended the other ranks. */
void LaunchWatch::rank_salvaged(int rank, std::uint64_t number, std::uint64_t interval,
                                Time now)
{
    ranks_[rank].is_salvaging = false;
    fail(end_of(rank), now);
    CKPT_INVARIANT(failure_);
    if (failure_->kind == Failure::Kind::rank_ended && failure_->rank == rank) {
        failure_->salvaged = number;
        failure_->interval = interval;
    }
}

void LaunchWatch::rank_not_salvaged(int rank, const std::string &why, Time now)
{
    ranks_[rank].is_salvaging = false;
    stays_dead(rank, "it is not replayed: " + why, now);
}

void LaunchWatch::stays_dead(int rank, const std::string &clause, Time now)
{
    ranks_[rank].why_not_salvaged = clause;
    if (failure_ && failure_->rank == rank && failure_->salvaged == 0) {
        failure_->why_not_salvaged = clause;
        fail(*failure_, now + time_to_end());
    }
}

/* ---- Recoveries in place --------------------------------------------------------- */

void LaunchWatch::rank_recovering(int rank, const std::string &host)
{
    if (tolerant_) {
        return;
    }
    recovering_ = rank;
    recovering_on_ = host;
    has_recovered_ = false;
    for (const auto &[other, known] : ranks_) {
        returning_.insert(other);
    }
    if (failure_ && failure_->kind == Failure::Kind::rank_ended && !is_ending()) {
        end_at_ = Time::max(); /* until the result is known */
    }
}

/* Other agents may still have to say that old processes have ended, and then that ranks are here
 * again. */
void LaunchWatch::rank_recovered(int rank, bool is_alone)
{
    if (recovering_ && recovering_ != rank) {
        return; /* old news, of an agent that had lost its connection */
    }
    has_recovered_ = true;
    has_gone_back_ = has_gone_back_ || !is_alone;
    if (is_alone || returning_.empty()) {
        end_recovery();
    }
}

void LaunchWatch::end_recovery()
{
    if (recovering_) {
        ranks_[*recovering_].is_salvaging = false;
    }
    recovering_.reset();
    returning_.clear();
    if (failure_ && failure_->kind == Failure::Kind::rank_ended && !is_ending()) {
        failure_.reset();
        end_at_ = Time::max();
    }
}

void LaunchWatch::rank_not_recovered(int rank, const std::string &why, Time now)
{
    stays_dead(rank, "the job does not recover in place: " + why, now);
    if (recovering_ == rank || (recovering_ && has_recovered_)) {
        recovering_.reset();
        returning_.clear();
        fail(end_of(rank), now + time_to_end());
    }
}

void LaunchWatch::agent_lost(const std::string &host, Time now)
{
    for (auto &[rank, known] : ranks_) {
        if (known.host == host && known.is_salvaging) {
            rank_not_salvaged(rank, "the agent has died", now);
            fail(end_of(rank), now + time_to_end()); /* the agent may not have reported the end */
        }
    }
    if (recovering_ && !has_recovered_ && recovering_on_ == host) {
        rank_not_recovered(*recovering_, "the agent has died", now);
    }
}

bool LaunchWatch::awaits_salvage() const
{
    return (recovering_ && !has_recovered_) ||
           std::ranges::any_of(ranks_, [](const auto &entry) { return entry.second.is_salvaging; });
}

bool LaunchWatch::has_unfinished() const
{
    return std::ranges::any_of(ranks_,
                               [](const auto &entry) { return !entry.second.is_finished; });
}

bool LaunchWatch::all_have_ended() const
{
    return std::ranges::all_of(ranks_, [](const auto &entry) { return entry.second.has_ended; });
}

bool LaunchWatch::all_have_status() const
{
    return std::ranges::all_of(ranks_, [](const auto &entry) { return entry.second.has_status; });
}

void LaunchWatch::rank_stopped(int rank, Time now)
{
    Rank &known = ranks_[rank];

    if (!known.has_ended && !known.stopped_since) {
        known.stopped_since = now;
    }
}

/* If the whole job was suspended, other ranks may run again as well; their agents report that up
 * to a second later. */
void LaunchWatch::rank_continued(int rank, Time now)
{
    if (all_are_stopped()) {
        for (auto &[other, known] : ranks_) {
            if (known.stopped_since) {
                known.stopped_since = now;
            }
        }
    }
    ranks_[rank].stopped_since.reset();
}

void LaunchWatch::node_unserved(const std::string &host, Time now)
{
    unserved_.emplace(host, now);
}

void LaunchWatch::node_served(const std::string &host)
{
    unserved_.erase(host);
}

bool LaunchWatch::has_ranks(const std::string &host) const
{
    return std::any_of(ranks_.begin(), ranks_.end(), [&](const auto &entry) {
        const Rank &rank = entry.second;
        return rank.host == host && !rank.is_finished && !rank.has_ended;
    });
}

/* A node has no agent if its ranks are all stopped, or hang where no agent can reach them, or if
 * the node is lost. In the last case, a membership would report it, if there is one. */
void LaunchWatch::look_at_unserved(Time now)
{
    for (const auto &[host, since] : unserved_) {
        if (!failure_ && now >= since + limits_.unserved && has_ranks(host)) {
            node_lost(host, now);
        }
    }
}

void LaunchWatch::node_lost(const std::string &host, Time now)
{
    CKPT_EXPECT(!host.empty());
    Failure failure;

    failure.kind = Failure::Kind::node_lost;
    failure.host = host;
    if (lost_nodes_.insert(host).second) {
        silent_since_ = now;
    }
    fail(std::move(failure), now);
}

void LaunchWatch::cut_off(Time now)
{
    Failure failure;

    failure.kind = Failure::Kind::cut_off;
    silent_since_ = silent_since_.value_or(now);
    fail(std::move(failure), now);
}

/* If all ranks are stopped, a user has suspended the job. But if only one of several ranks is
 * left, it may have been stopped alone. Then the job does not count as suspended, as it might
 * never be continued. */
bool LaunchWatch::all_are_stopped() const
{
    std::size_t living = 0, stopped = 0;

    for (const auto &[rank, known] : ranks_) {
        living += known.has_ended ? 0 : 1;
        stopped += !known.has_ended && known.stopped_since ? 1 : 0;
    }
    CKPT_INVARIANT(stopped <= living && living <= ranks_.size());
    return stopped == living && (living != 1 || ranks_.size() == 1);
}

void LaunchWatch::look_at_stopped(Time now)
{
    if (failure_ || all_are_stopped()) {
        return;
    }
    for (const auto &[rank, known] : ranks_) {
        if (known.stopped_since && now >= *known.stopped_since + limits_.stopped) {
            Failure failure;
            failure.kind = Failure::Kind::rank_stopped;
            failure.rank = rank;
            failure.host = known.host;
            fail(std::move(failure), now);
            return;
        }
    }
}

bool LaunchWatch::all_have_finished() const
{
    return !has_unfinished() && all_have_ended() && all_have_status();
}

/* After a recovery the launcher may wait for ever for the end of a rank that has died. When the
 * status of a rank is known its shell is about to end. */
void LaunchWatch::look_at_finished(Time now)
{
    if (!acts_ || !has_gone_back_ || failure_ || is_ending() || !all_have_finished()) {
        finished_since_.reset();
        return;
    }
    finished_since_ = finished_since_.value_or(now);
    if (now >= *finished_since_ + limits_.all_ended) {
        terminate_at_ = now;
    }
}

LaunchWatch::Step LaunchWatch::step(Time now)
{
    look_at_finished(now);
    look_at_stopped(now);
    look_at_unserved(now);
    if (now >= end_at_) {
        end_at_ = Time::max();
        terminate_at_ = acts_ ? now + limits_.all_ended : now;
        CKPT_INVARIANT(failure_); /* no launch is ended without one */
        return Step::end;
    }
    if (now >= terminate_at_) {
        terminate_at_ = Time::max();
        kill_at_ = now + limits_.grace_period;
        return Step::terminate;
    }
    if (now >= kill_at_) {
        kill_at_ = now + limits_.grace_period; /* repeated until the launcher ends */
        return Step::kill;
    }
    return Step::none;
}

LaunchWatch::Time LaunchWatch::next_step() const
{
    Time next = std::min({end_at_, terminate_at_, kill_at_});

    if (failure_) {
        return next;
    }
    if (finished_since_ && !is_ending()) {
        next = std::min(next, *finished_since_ + limits_.all_ended);
    }
    for (const auto &[host, since] : unserved_) {
        if (has_ranks(host)) {
            next = std::min(next, since + limits_.unserved);
        }
    }
    if (all_are_stopped()) {
        return next;
    }
    for (const auto &[rank, known] : ranks_) {
        if (known.stopped_since) {
            next = std::min(next, *known.stopped_since + limits_.stopped);
        }
    }
    return next;
}

} // namespace ckpt
