/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_watch.cpp - the first failure of a launch, and what follows from it when.
 */
#include "supervise/launch_watch.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

void LaunchWatch::fail(Failure failure, Time end_at)
{
    if (!failure_) {
        failure_ = std::move(failure);
    }
    if (kill_at_ == Time::max()) {
        end_at_ = std::min(end_at_, end_at);
    }
}

void LaunchWatch::rank_here(int rank, const std::string &host)
{
    Rank &known = ranks_[rank];

    known.host = host;
    known.has_ended = false; /* it may have executed another program */
}

void LaunchWatch::rank_finished(int rank)
{
    ranks_[rank].is_finished = true;
}

void LaunchWatch::rank_ended(int rank, Time now)
{
    Rank &known = ranks_[rank];

    known.has_ended = true;
    known.stopped_since.reset();
    if (known.is_finished || tolerant_) {
        return;
    }
    Failure failure;
    failure.kind = Failure::Kind::rank_ended;
    failure.rank = rank;
    failure.host = known.host;
    fail(std::move(failure), now + limits_.own_end);
}

void LaunchWatch::rank_status(int rank, int status)
{
    if (!failure_ || failure_->kind != Failure::Kind::rank_ended ||
        failure_->rank != rank || failure_->status) {
        return;
    }
    if (status == 0 && kill_at_ == Time::max()) {
        failure_.reset(); /* it may do without MPI_Finalize; the launcher knows */
        end_at_ = Time::max();
        return;
    }
    failure_->status = status;
}

void LaunchWatch::rank_stopped(int rank, Time now)
{
    Rank &known = ranks_[rank];

    if (!known.has_ended && !known.stopped_since) {
        known.stopped_since = now;
    }
}

void LaunchWatch::rank_continued(int rank)
{
    ranks_[rank].stopped_since.reset();
}

void LaunchWatch::node_lost(const std::string &host, Time now)
{
    Failure failure;

    failure.kind = Failure::Kind::node_lost;
    failure.host = host;
    lost_nodes_.insert(host);
    fail(std::move(failure), now);
}

void LaunchWatch::cut_off(Time now)
{
    Failure failure;

    failure.kind = Failure::Kind::cut_off;
    fail(std::move(failure), now);
}

/* Then somebody has suspended the job. If all but one have ended already, that one may as well
 * have been stopped by itself, and nobody would ever wait for the job's end in vain. */
bool LaunchWatch::all_are_stopped() const
{
    std::size_t living = 0, stopped = 0;

    for (const auto &[rank, known] : ranks_) {
        living += known.has_ended ? 0 : 1;
        stopped += !known.has_ended && known.stopped_since ? 1 : 0;
    }
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

LaunchWatch::Step LaunchWatch::step(Time now)
{
    look_at_stopped(now);
    if (now >= end_at_) {
        end_at_ = Time::max();
        kill_at_ = now + limits_.last_words;
        return Step::end;
    }
    if (now >= kill_at_) {
        kill_at_ = now + limits_.last_words; /* as often as it takes */
        return Step::kill;
    }
    return Step::none;
}

LaunchWatch::Time LaunchWatch::next_step() const
{
    Time next = std::min(end_at_, kill_at_);

    if (failure_ || all_are_stopped()) {
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
