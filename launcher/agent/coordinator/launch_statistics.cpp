/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_statistics.cpp - how the checkpoints of this launch ended.
 */
#include "agent/coordinator/launch_statistics.hpp"

#include "common/durations.hpp"

#include <chrono>

namespace ckpt
{

namespace
{

constexpr std::size_t most_noted_attempts = 16;

} // namespace

/* A request that waits gives the same reasons again and again. */
void LaunchStatistics::note_attempt(const Refusal &why)
{
    const bool is_new = given_up_before_.empty() || given_up_before_.back() != why;

    if (is_new && given_up_before_.size() < most_noted_attempts) {
        given_up_before_.push_back(why);
    }
}

void LaunchStatistics::count_committed(const control::Result &result)
{
    unprotected_.committed();
    committed_count_++;
    last_ = result;
    last_at_ = static_cast<double>(now_nanoseconds()) * 1e-9;
    totals_.bytes += result.bytes;
    totals_.memory_bytes += result.memory_bytes;
    totals_.seconds += result.timings.total;
    totals_.stopped += result.timings.stop;
}

void LaunchStatistics::count_failed(const Refusal &why)
{
    failed_count_++;
    last_error_ = why;
}

void LaunchStatistics::give_up(const Refusal &why, Time now)
{
    last_error_ = why;
    note_unprotected(why, now);
}

void LaunchStatistics::note_unprotected(const Refusal &why, Time now)
{
    if (is_periodic_) {
        unprotected_.failed(now, why.text());
    }
}

std::optional<Unprotected::News> LaunchStatistics::news(bool is_under_way, Time now,
                                                        Duration interval)
{
    if (!is_periodic_) {
        return {};
    }
    if (begun_ && is_under_way) {
        unprotected_.under_way(*begun_, now, interval);
    }
    return unprotected_.news(now, interval);
}

void LaunchStatistics::fill(control::Status &status, Time now) const
{
    status.committed = committed_count_;
    status.failed = failed_count_;
    status.last_error = last_error_.detail();
    status.last_refusal = last_error_.name();
    status.refusals = refusals_;
    if (const auto since = unprotected_.since()) {
        const std::chrono::duration<double> ago = now - *since;
        status.unprotected_since = static_cast<double>(now_nanoseconds()) * 1e-9 - ago.count();
    }
    status.last = last_;
    status.last_at = last_at_;
    status.totals = totals_;
}

void LaunchStatistics::fill(Milestones &reached) const
{
    reached.committed = committed_count_;
    reached.failed = failed_count_;
    reached.is_unprotected = unprotected_.since().has_value();
}

} // namespace ckpt
