/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durations.hpp - lengths of time as users write and read them, and points in
 * time as the manifest stores them.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt
{

/* "90", "90s", "10m", "1.5h", "250ms", "2d" to nanoseconds; a bare number is
 * seconds. Throws Error on anything else or a negative value. */
std::chrono::nanoseconds parse_duration(std::string_view text);

/* 0.0123 -> "12.3 ms", 75 -> "1 min 15 s": three significant digits. */
std::string format_seconds(double seconds);

/* 1536 -> "1.5 KiB". */
std::string format_bytes(std::uint64_t bytes);

/* "1 rank", "2 ranks". */
std::string counted(std::uint64_t number, const char *noun);

/* Nanoseconds since 1970 to and from "2025-01-31T12:00:00.123456789Z". parse_time() throws Error
 * on anything else, and on a time that they do not reach: before 1970, or after 2262-04-11. */
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
