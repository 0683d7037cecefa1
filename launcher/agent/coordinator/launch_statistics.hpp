/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_statistics.hpp - how the checkpoints of this launch ended: counts, the latest result and
 * the latest error, and since when the job is unprotected. No I/O. Part of the coordinator.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/messages/milestones.hpp"
#include "agent/ranks/unprotected.hpp"
#include "common/refusal.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ckpt
{

/* Context, for all functions: the thread of the event loop. */
class LaunchStatistics
{
  public:
    using Time = Unprotected::Time;
    using Duration = Unprotected::Duration;

    /* is_periodic: whether the job takes periodic checkpoints. Only these protect it. */
    explicit LaunchStatistics(bool is_periodic)
        : is_periodic_(is_periodic) {}

    /* An attempt begins. If it repeats another one, the time of the first attempt counts. */
    void attempt_begins(Time now) { begun_ = begun_.value_or(now); }
    /* The attempt is over, and no other one repeats it at once. */
    void attempt_is_over() { begun_.reset(); }

    /* An attempt has failed, and its request is tried again. */
    void note_attempt(const Refusal &why);
    /* Returns the reasons of the earlier attempts of the present request, without repetitions. */
    const std::vector<Refusal> &earlier_attempts() const { return given_up_before_; }
    /* The present request is over, with any result. */
    void request_is_over() { given_up_before_.clear(); }

    /* A checkpoint is committed. */
    void count_committed(const control::Result &result);
    /* A checkpoint has failed. count_refusal() counts the reason. */
    void count_failed(const Refusal &why);
    /* A request or an attempt ends for this reason. */
    void count_refusal(const Refusal &why) { refusals_[why.name()]++; }
    /* No checkpoint is taken any more. */
    void give_up(const Refusal &why, Time now);
    /* A checkpoint that would protect the job fails, or would fail. */
    void note_unprotected(const Refusal &why, Time now);

    /* Returns each change of the job's protection once. is_under_way: the attempt is not over and
     * still has to save the ranks. interval: between periodic checkpoints. */
    std::optional<Unprotected::News> news(bool is_under_way, Time now, Duration interval);

    /* Fill in the fields that belong to this class. */
    void fill(control::Status &status, Time now) const;
    void fill(Milestones &reached) const;

  private:
    const bool is_periodic_;
    std::uint64_t committed_count_ = 0;
    std::uint64_t failed_count_ = 0;
    Refusal last_error_;
    std::vector<Refusal> given_up_before_; /* earlier attempts of the present request */
    RefusalCounts refusals_;               /* of requests and attempts */
    control::Result last_;
    double last_at_ = 0; /* seconds since 1970 */
    control::Totals totals_;
    Unprotected unprotected_;
    std::optional<Time> begun_; /* when the attempt under way began */
};

} // namespace ckpt
