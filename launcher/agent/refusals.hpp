/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refusals.hpp - what came from outside and was not taken: why, and how often
 * (docs/protocol.md, section 11).
 *
 * Thread-safe.
 */
#pragma once

#include "common/error.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace ckpt
{

enum class Refusal {
    forged,     /* its sender does not have the job's key, or is not who it says */
    replayed,   /* said before, by one who has the key */
    malformed,  /* truncated, or no message of ours */
    foreign,    /* of another version, launch or incarnation */
    other_user, /* a connection of another user's process */
    too_many,   /* a connection that had to make room for a newer one */
    too_slow,   /* a connection that has not said in time who it is */
};
inline constexpr std::size_t refusal_kinds = 7;

/* One word, as `ckpt status` shows it. */
const char *refusal_name(Refusal why);

/* What a decoder throws; the connection is to be ended. */
class Refused : public Error
{
  public:
    Refused(Refusal why, const std::string &text) : Error(text), why_(why) {}

    Refusal why() const noexcept { return why_; }

  private:
    Refusal why_;
};

template <typename... Args>
[[noreturn]] void refuse(Refusal why, fmt::format_string<Args...> format,
                         Args &&...args)
{
    throw Refused(why, fmt::format(format, std::forward<Args>(args)...));
}

class Refusals
{
  public:
    using Counts = std::map<std::string, std::uint64_t>; /* by refusal_name() */

    /* Counts one, and logs `text`, which names the sender: the first ones of each kind,
     * then ever fewer, so that nobody can fill the disk with our log. */
    void count(Refusal why, const std::string &text);

    std::uint64_t of(Refusal why) const;
    std::uint64_t total() const;
    /* Those that are not 0. */
    Counts counts() const;

  private:
    std::array<std::atomic<std::uint64_t>, refusal_kinds> counts_{};
};

} // namespace ckpt
