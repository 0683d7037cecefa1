/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * time_axis.cpp - a span of time along a horizontal line.
 */
#include "config.h"
#include "diagram/time_axis.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ckpt::diagram
{

namespace
{

constexpr std::int64_t most_ticks = 10;
constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t second = 1'000'000'000;

/* Returns the smallest of 1, 2, 5, 10, 20, ... that divides `span` into at most
 * most_ticks steps. */
std::int64_t step_for(std::int64_t span)
{
    CKPT_EXPECT(span > 0);
    for (std::int64_t power = 1;; power *= 10) {
        for (std::int64_t factor : {1, 2, 5}) {
            if (span / (factor * power) <= most_ticks) {
                return factor * power;
            }
        }
    }
}

/* Uses as many decimals as the step needs. */
std::string label_of(std::int64_t time, std::int64_t step, std::int64_t unit)
{
    int decimals = 0;
    for (std::int64_t size = unit; size > step && size > 1; size /= 10) {
        decimals++;
    }
    return fmt::format("{:.{}f}",
                       static_cast<double>(time) / static_cast<double>(unit),
                       decimals);
}

} // namespace

TimeAxis::TimeAxis(std::int64_t from, std::int64_t to, double left,
                   double right)
    : from_(from), to_(to), left_(left), right_(right)
{
    CKPT_EXPECT(from < to);
}

double TimeAxis::x(std::int64_t time) const
{
    return left_ + (right_ - left_) * static_cast<double>(time - from_) /
                       static_cast<double>(to_ - from_);
}

const char *TimeAxis::unit() const
{
    return to_ >= 10 * second ? "s" : "ms";
}

std::vector<TimeAxis::Tick> TimeAxis::ticks() const
{
    std::int64_t step = step_for(to_ - from_);
    std::int64_t size = std::strcmp(unit(), "s") == 0 ? second : millisecond;
    std::int64_t first = from_ / step * step; /* rounded towards 0 */
    std::vector<Tick> ticks;

    for (std::int64_t time = first; time <= to_; time += step) {
        if (time >= from_) {
            ticks.push_back({time, label_of(time, step, size)});
        }
    }
    CKPT_INVARIANT(std::ssize(ticks) <= most_ticks + 2);
    return ticks;
}

} // namespace ckpt::diagram
