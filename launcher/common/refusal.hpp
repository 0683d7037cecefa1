/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refusal.hpp - why a checkpoint, a restart or another request was refused or given up: an identity
 * of the table ckpt/refusals.h, and a detail for the user.
 */
#pragma once

#include "ckpt/refusals.h"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ckpt
{

/* Return the identity of a number or name from another process; CKPT_REFUSAL_UNNAMED if this
 * program does not know it. */
ckpt_refusal refusal_of(std::uint64_t number);
ckpt_refusal refusal_of(std::string_view name);

/* A refusal; empty() if nothing is refused. */
class Refusal
{
  public:
    Refusal() = default;
    Refusal(ckpt_refusal identity, std::string detail)
        : identity_(identity), detail_(std::move(detail))
    {
    }

    bool empty() const { return identity_ == CKPT_REFUSAL_NONE; }
    ckpt_refusal identity() const { return identity_; }
    const std::string &detail() const { return detail_; }
    /* Returns "" if nothing is refused. */
    std::string name() const { return empty() ? "" : ckpt_refusal_name(identity_); }
    /* Returns the message for the user, which ends with the name: "process 7 ... [living-child]".
     * Returns "" if nothing is refused. */
    std::string text() const;
    /* Returns the same refusal with a text before its detail. */
    Refusal after(std::string_view prefix) const;

    bool operator==(const Refusal &other) const = default;

  private:
    ckpt_refusal identity_ = CKPT_REFUSAL_NONE;
    std::string detail_;
};

/* Returns a refusal with a formatted detail. */
template <typename... Args>
Refusal refusal(ckpt_refusal identity, fmt::format_string<Args...> format, Args &&...args)
{
    return {identity, fmt::format(format, std::forward<Args>(args)...)};
}

/* Returns the refusal whose text() this is, as ranks get and pass on. A text without a name at its
 * end is unnamed. */
Refusal refusal_from_text(std::string_view text);

/* Returns the refusal that an exception stands for: its own identity if it has one, no-space or
 * wrong-key for the codes that mean this, and otherwise the given one. */
Refusal refusal_of(const std::exception &problem, ckpt_refusal otherwise);
/* The same; returns an empty refusal if the exception is not a refusal. */
inline Refusal refusal_of(const std::exception &problem)
{
    return refusal_of(problem, CKPT_REFUSAL_NONE);
}

/* Returns the text of an exception for the user, with the name if it is a refusal. */
std::string message_of(const std::exception &problem);

/* How often each identity has occurred, by its name. */
using RefusalCounts = std::map<std::string, std::uint64_t>;

} // namespace ckpt
