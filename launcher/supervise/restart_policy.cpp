/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_policy.cpp - limits and back-off of restarts.
 */
#include "supervise/restart_policy.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

RestartPolicy::RestartPolicy(Limits limits)
    : limits_(limits)
{
    CKPT_EXPECT(limits.restarts >= 0 && limits.tries >= 0 && limits.back_off >= Duration{});
}

/* Returns why the job must not start from the beginning; "": it may. If the program is to blame,
 * it would only fail again. Its effects outside may also be such that they must not happen
 * twice. */
std::string RestartPolicy::obstacle_to_fresh_start(const Failure &failure) const
{
    if (!failure.is_from_outside()) {
        return "there is no checkpoint to restart from";
    }
    return limits_.fresh_start ? ""
                               : "there is no checkpoint to restart from, and the job must not "
                                 "start over";
}

/* Whether failures repeat without a new checkpoint since the last restart. */
bool RestartPolicy::repeats(const Failure &failure)
{
    const std::string place = failure.place();
    const int here = place.empty() ? 0 : ++places_[place];

    own_ += failure.is_from_outside() ? 0 : 1;
    return std::max(own_, here) > limits_.tries;
}

/* Whether the job has made progress since the last restart. Each salvage makes a checkpoint.
 * That does not count as progress of a rank that fails again at the same place. */
bool RestartPolicy::gets_on(const Failure &failure, std::uint64_t checkpoint)
{
    if (failure.salvaged == 0 || failure.salvaged != checkpoint) {
        return checkpoint != last_;
    }
    const auto [entry, is_first] = reached_.try_emplace(failure.place(), failure.interval);
    const bool is_further = is_first || failure.interval > entry->second;
    entry->second = std::max(entry->second, failure.interval);
    return is_further;
}

RestartPolicy::Decision RestartPolicy::after(const Failure &failure,
                                             std::uint64_t checkpoint)
{
    if (checkpoint == 0) {
        if (std::string obstacle = obstacle_to_fresh_start(failure); !obstacle.empty()) {
            return {false, {}, std::move(obstacle)};
        }
    }
    if (gets_on(failure, checkpoint)) {
        from_last_ = own_ = 0;
        places_.clear();
    }
    last_ = checkpoint;
    if (repeats(failure)) {
        return {false, {}, "it fails again and again without a new checkpoint"};
    }
    if (restarts_ >= limits_.restarts) {
        return {false, {}, "no restart is left"};
    }
    Decision decision{true, {}, {}};
    if (from_last_ > 0 && failure.salvaged == 0) { /* a restart from a salvage repeats the work
                                                      of one rank only */
        const int doublings = std::min(from_last_ - 1, 30);
        decision.delay =
            std::min<Duration>(limits_.longest, limits_.back_off * (1LL << doublings));
    }
    from_last_++;
    restarts_++;
    CKPT_INVARIANT(restarts_ <= limits_.restarts && from_last_ > 0);
    CKPT_INVARIANT(decision.delay <= limits_.longest);
    return decision;
}

} // namespace ckpt
