/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_policy.cpp - limits and back-off of restarts.
 */
#include "supervise/restart_policy.hpp"

#include <algorithm>

namespace ckpt
{

/* Without a new checkpoint since the restart before. */
bool RestartPolicy::repeats(const Failure &failure)
{
    const std::string place = failure.place();
    const int here = place.empty() ? 0 : ++places_[place];

    own_ += failure.is_from_outside() ? 0 : 1;
    return std::max(own_, here) > limits_.tries;
}

RestartPolicy::Decision RestartPolicy::after(const Failure &failure,
                                             std::uint64_t checkpoint)
{
    if (checkpoint != last_) {
        last_ = checkpoint;
        from_last_ = own_ = 0;
        places_.clear();
    }
    if (repeats(failure)) {
        return {false, {}, "it fails again and again without a new checkpoint"};
    }
    if (restarts_ >= limits_.restarts) {
        return {false, {}, "no restart is left"};
    }
    Decision decision{true, {}, {}};
    if (from_last_ > 0) {
        const int doublings = std::min(from_last_ - 1, 30);
        decision.delay =
            std::min<Duration>(limits_.longest, limits_.back_off * (1LL << doublings));
    }
    from_last_++;
    restarts_++;
    return decision;
}

} // namespace ckpt
