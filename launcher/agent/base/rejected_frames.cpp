/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rejected_frames.cpp - counts rejected messages and connections.
 */
#include "agent/base/rejected_frames.hpp"

#include <spdlog/spdlog.h>

#include <bit>
#include <numeric>

namespace ckpt
{

namespace
{

constexpr std::uint64_t all_are_logged = 16; /* then only at powers of two */

constexpr std::array<const char *, rejection_kinds> names = {
    "forged", "replayed", "malformed", "foreign", "other_user",
    "too_many", "too_slow"};
static_assert(names.back() != nullptr); /* each kind has a name */

std::size_t index_of(Rejection why)
{
    return static_cast<std::size_t>(why);
}

} // namespace

const char *rejection_name(Rejection why)
{
    return names.at(index_of(why));
}

void RejectedFrames::count(Rejection why, const std::string &text)
{
    const std::uint64_t count = ++counts_.at(index_of(why));

    if (count <= all_are_logged) {
        spdlog::warn("{}", text);
    } else if (std::has_single_bit(count)) {
        spdlog::warn("{} (number {} of these)", text, count);
    }
}

std::uint64_t RejectedFrames::of(Rejection why) const
{
    return counts_.at(index_of(why));
}

std::uint64_t RejectedFrames::total() const
{
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

RejectedFrames::Counts RejectedFrames::counts() const
{
    Counts counts;

    for (std::size_t i = 0; i < rejection_kinds; i++) {
        if (const std::uint64_t count = counts_[i]; count != 0) {
            counts.emplace(names[i], count);
        }
    }
    return counts;
}

} // namespace ckpt
