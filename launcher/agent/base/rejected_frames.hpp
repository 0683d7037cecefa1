/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rejected_frames.hpp - messages and connections from outside that were rejected: the
 * reasons, and how often (docs/protocol.md, section 11).
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

enum class Rejection {
    forged,     /* the sender lacks the job's key, or has another identity than it says */
    replayed,   /* valid tag, but sent before */
    malformed,  /* truncated, or not a valid message */
    foreign,    /* of another version, launch or incarnation */
    other_user, /* a connection of another user's process */
    too_many,   /* a connection closed in favour of a newer one */
    too_slow,   /* a connection that has not authenticated itself in time */
};
inline constexpr std::size_t rejection_kinds = 7;

/* Returns one word, as in `ckpt status`. */
const char *rejection_name(Rejection why);

/* Thrown by decoders; the caller has to end the connection. */
class Rejected : public Error
{
  public:
    Rejected(Rejection why, const std::string &text)
        : Error(text), why_(why) {}

    Rejection why() const noexcept { return why_; }

  private:
    Rejection why_;
};

template <typename... Args>
[[noreturn]] void reject(Rejection why, fmt::format_string<Args...> format,
                         Args &&...args)
{
    throw Rejected(why, fmt::format(format, std::forward<Args>(args)...));
}

class RejectedFrames
{
  public:
    using Counts = std::map<std::string, std::uint64_t>; /* by rejection_name() */

    /* counts one rejection, and logs `text`, which names the sender. It logs the first ones of
     * each kind, and then fewer and fewer, so that no sender can fill the disk with log lines. */
    void count(Rejection why, const std::string &text);

    std::uint64_t of(Rejection why) const;
    std::uint64_t total() const;
    /* Returns the counts that are not 0. */
    Counts counts() const;

  private:
    std::array<std::atomic<std::uint64_t>, rejection_kinds> counts_{};
};

} // namespace ckpt
