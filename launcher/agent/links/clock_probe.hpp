/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_probe.hpp - offset between another node's CLOCK_MONOTONIC and ours. The probe assumes that
 * the other node reads its clock in the middle of the round trip (Cristian 1989). It keeps the
 * result of the shortest of several round trips.
 */
#pragma once

#include <chrono>
#include <cstdint>

namespace ckpt
{

/* The value to add to the other clock to get ours, and the largest error of that value, both in
 * nanoseconds. */
struct ClockOffset {
    std::int64_t nanoseconds = 0;
    std::int64_t error = 0;
};

/* CLOCK_MONOTONIC, nanoseconds. */
inline std::int64_t monotonic_nanoseconds()
{
    return std::chrono::nanoseconds(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

class ClockProbe
{
  public:
    static constexpr int rounds = 4;

    /* The caller sends a question. The previous offset holds until the first answer. */
    void begin()
    {
        left_ = rounds;
        is_new_ = true;
    }

    /* Takes an answer: sent at `asked`, the other clock was `there`, and
     * `now` it arrived. Returns true if the caller should send another
     * question. */
    bool answered(std::int64_t asked, std::int64_t there, std::int64_t now)
    {
        const std::int64_t error = (now - asked + 1) / 2;

        if (is_new_ || error < best_.error) {
            best_ = {asked + (now - asked) / 2 - there, error};
        }
        is_new_ = false;
        return --left_ > 0;
    }

    const ClockOffset &best() const { return best_; }

  private:
    ClockOffset best_;
    int left_ = 0;
    bool is_new_ = true;
};

} // namespace ckpt
