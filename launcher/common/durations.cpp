/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durations.cpp - conversion between text and durations or sizes.
 */
#include "config.h"
#include "common/durations.hpp"

#include "common/error.hpp"

#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>

namespace ckpt
{

namespace
{

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

/* Returns the seconds in one unit, or 0 for an unknown unit. */
double unit_seconds(std::string_view unit)
{
    struct {
        std::string_view name;
        double seconds;
    } static constexpr units[] = {
        {"", 1},
        {"ns", 1e-9},
        {"us", 1e-6},
        {"ms", 1e-3},
        {"s", 1},
        {"m", 60},
        {"min", 60},
        {"h", 3600},
        {"d", 86400},
    };
    for (const auto &candidate : units) {
        if (candidate.name == unit) {
            return candidate.seconds;
        }
    }
    return 0;
}

std::string scaled(double value, double factor, const char *unit)
{
    value *= factor;
    int decimals = value < 10 ? 2 : value < 100 ? 1
                                                : 0;
    return fmt::format("{:.{}f} {}", value, decimals, unit);
}

} // namespace

std::chrono::nanoseconds parse_duration(std::string_view text)
{
    double value = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    std::string_view unit = text.substr(end - text.data());
    double nanoseconds = value * unit_seconds(unit) * 1e9;
    if (error != std::errc() || unit_seconds(unit) == 0 ||
        !std::isfinite(value) || value < 0 || nanoseconds > 9e18) {
        fail("'{}' is not a duration; write for example 90s, 10m or 1.5h",
             text);
    }
    return std::chrono::nanoseconds(std::llround(nanoseconds));
}

std::string format_seconds(double seconds)
{
    if (seconds < 1e-3) {
        return scaled(seconds, 1e6, "us");
    }
    if (seconds < 1) {
        return scaled(seconds, 1e3, "ms");
    }
    if (seconds < 60) {
        return scaled(seconds, 1, "s");
    }
    auto whole = std::llround(seconds);
    if (whole < 3600) {
        return fmt::format("{} min {} s", whole / 60, whole % 60);
    }
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string counted(std::uint64_t number, const char *noun)
{
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string format_bytes(std::uint64_t bytes)
{
    static constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024) {
        return fmt::format("{} B", bytes);
    }
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        unit++;
    }
    return fmt::format("{:.1f} {}", value, units[unit]);
}

std::int64_t now_nanoseconds()
{
    struct timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * nanoseconds_per_second + now.tv_nsec;
}

std::string format_time(std::int64_t nanoseconds)
{
    std::time_t seconds = nanoseconds / nanoseconds_per_second;
    struct tm parts;
    ::gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    return fmt::format("{}.{:09}Z", text, nanoseconds % nanoseconds_per_second);
}

std::int64_t parse_time(std::string_view text)
{
    constexpr std::time_t seconds_end =
        std::numeric_limits<std::int64_t>::max() / nanoseconds_per_second;
    struct tm parts = {};
    std::string copy(text);
    const char *rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::int64_t fraction = 0;
    if (rest != nullptr) {
        const char *end = copy.c_str() + copy.size();
        if (end - rest == 11 && rest[0] == '.' && rest[10] == 'Z') {
            auto [stop, error] = std::from_chars(rest + 1, rest + 10, fraction);
            const std::time_t seconds = ::timegm(&parts);
            if (error == std::errc() && stop == rest + 10 && fraction >= 0 && seconds >= 0 &&
                seconds < seconds_end) {
                return seconds * nanoseconds_per_second + fraction;
            }
        }
    }
    fail("'{}' is not a time", text);
}

} // namespace ckpt
