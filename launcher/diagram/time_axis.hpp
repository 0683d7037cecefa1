/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * time_axis.hpp - a span of time along a horizontal line.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt::diagram
{

class TimeAxis
{
  public:
    /* Maps nanoseconds [from, to], from < to, to pixels [left, right]. */
    TimeAxis(std::int64_t from, std::int64_t to, double left, double right);

    std::int64_t from() const { return from_; }
    std::int64_t to() const { return to_; }
    double left() const { return left_; }
    double right() const { return right_; }
    double x(std::int64_t time) const;
    bool has(std::int64_t time) const { return from_ <= time && time <= to_; }

    struct Tick {
        std::int64_t time;
        std::string label;
    };
    /* Returns 4 to 10 ticks, at multiples of 1, 2 or 5 times a power of ten. */
    std::vector<Tick> ticks() const;
    /* Returns the unit of the labels: "ms", or "s" from ten seconds on. */
    const char *unit() const;

  private:
    std::int64_t from_;
    std::int64_t to_;
    double left_;
    double right_;
};

} // namespace ckpt::diagram
