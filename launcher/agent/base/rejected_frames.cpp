/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refusals.cpp - counts refused messages and connections.
 */
#include "agent/base/refusals.hpp"

#include <spdlog/spdlog.h>

#include <bit>
#include <numeric>

namespace ckpt
{

namespace
{

constexpr std::uint64_t all_are_logged = 16; /* then only at powers of two */

constexpr std::array<const char *, refusal_kinds> names = {
    "forged",   "replayed", "malformed", "foreign", "other_user",
    "too_many", "too_slow"};

std::size_t index_of(Refusal why)
{
    return static_cast<std::size_t>(why);
}

} // namespace

const char *refusal_name(Refusal why)
{
    return names.at(index_of(why));
}

void Refusals::count(Refusal why, const std::string &text)
{
    const std::uint64_t count = ++counts_.at(index_of(why));

    if (count <= all_are_logged) {
        spdlog::warn("{}", text);
    } else if (std::has_single_bit(count)) {
        spdlog::warn("{} (number {} of these)", text, count);
    }
}

std::uint64_t Refusals::of(Refusal why) const
{
    return counts_.at(index_of(why));
}

std::uint64_t Refusals::total() const
{
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

Refusals::Counts Refusals::counts() const
{
    Counts counts;

    for (std::size_t i = 0; i < refusal_kinds; i++) {
        if (const std::uint64_t count = counts_[i]; count != 0) {
            counts.emplace(names[i], count);
        }
    }
    return counts;
}

} // namespace ckpt
