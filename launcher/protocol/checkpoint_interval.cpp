/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_interval.cpp - Daly's estimate, computed from measured values.
 */
#include "protocol/checkpoint_interval.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <cmath>

namespace ckpt
{

namespace
{

constexpr double day = 86400;
/* Interval before the first measurement: short, so that the job is saved soon. */
constexpr double first_interval = 60;
constexpr double shortest_interval = 1;
/* Weight of a new measurement in the cost, as programs have phases. */
constexpr double weight = 0.5;

} // namespace

double observed_mtbf(const JobHistory &history)
{
    return (day + history.seconds) / (1 + history.failures);
}

double optimal_interval(double cost, double mtbf)
{
    CKPT_EXPECT(mtbf > 0);
    const double part = cost / (2 * mtbf);

    if (part >= 1) {
        return mtbf;
    }
    return std::sqrt(2 * cost * mtbf) * (1 + std::sqrt(part) / 3 + part / 9) - cost;
}

CheckpointInterval CheckpointInterval::parse(std::string_view text)
{
    CheckpointInterval interval;

    if (text == "auto") {
        interval.automatic_ = true;
    } else {
        interval.fixed_ = parse_duration(text);
    }
    return interval;
}

bool CheckpointInterval::is_periodic() const
{
    return automatic_ || fixed_.count() > 0;
}

void CheckpointInterval::learn(double cost)
{
    cost_ = cost_ ? weight * cost + (1 - weight) * *cost_ : cost;
}

double CheckpointInterval::mtbf() const
{
    return given_mtbf_ > 0 ? given_mtbf_ : observed_mtbf(history_);
}

CheckpointInterval::Duration CheckpointInterval::value() const
{
    if (!automatic_) {
        return fixed_;
    }
    if (!cost_) {
        return Duration(std::clamp(mtbf() / 2, shortest_interval, first_interval));
    }
    return Duration(std::max(optimal_interval(*cost_, mtbf()), shortest_interval));
}

} // namespace ckpt
