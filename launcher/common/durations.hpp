/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durations.hpp - durations as users write and read them, and times as the
 * manifest stores them.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt
{

/* Converts "90", "90s", "10m", "1.5h", "250ms" or "2d" to nanoseconds; a
 * bare number is seconds. Throws Error on any other text or a negative
 * value. */
std::chrono::nanoseconds parse_duration(std::string_view text);

/* Returns three significant digits: 0.0123 -> "12.3 ms", 75 -> "1 min 15 s". */
std::string format_seconds(double seconds);

/* 1536 -> "1.5 KiB". */
std::string format_bytes(std::uint64_t bytes);

/* Returns "1 rank", "2 ranks". */
std::string counted(std::uint64_t number, const char *noun);

/* Convert nanoseconds since 1970 to and from "2025-01-31T12:00:00.123456789Z". parse_time() throws
 * Error for any other text, and for a time before 1970 or after 2262-04-11, which 64 bits do not
 * hold. */
std::int64_t now_nanoseconds();
std::string format_time(std::int64_t nanoseconds);
std::int64_t parse_time(std::string_view text);

/* Measures elapsed time from its construction. */
class Stopwatch
{
  public:
    double seconds() const
    {
        return std::chrono::duration<double>(Clock::now() - start_).count();
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

} // namespace ckpt
