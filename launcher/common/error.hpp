/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.hpp - the launcher's only exception: a text for the user.
 *
 * The text names what failed and why. Callers print it unchanged. An error that refuses a request
 * also has an identity (common/refusal.hpp), whose name is printed after the text.
 */
#pragma once

#include "ckpt/refusals.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace ckpt
{

class Error : public std::runtime_error
{
  public:
    explicit Error(const std::string &text, int code = 0,
                   ckpt_refusal identity = CKPT_REFUSAL_NONE)
        : std::runtime_error(text), code_(code), identity_(identity)
    {
    }

    /* The errno that caused the error, or 0. */
    int code() const noexcept { return code_; }
    /* CKPT_REFUSAL_NONE unless the error is a refusal. */
    ckpt_refusal identity() const noexcept { return identity_; }

  private:
    int code_;
    ckpt_refusal identity_;
};

/* Throws an Error with a formatted text. */
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args &&...args)
{
    throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/* Throws an Error that refuses a request, with a formatted text. */
template <typename... Args>
[[noreturn]] void refuse(ckpt_refusal identity, fmt::format_string<Args...> format,
                         Args &&...args)
{
    throw Error(fmt::format(format, std::forward<Args>(args)...), 0, identity);
}

/* Throws an Error of code ENOENT: a thing that the user has named does not
 * exist. */
template <typename... Args>
[[noreturn]] void fail_not_found(fmt::format_string<Args...> format,
                                 Args &&...args)
{
    throw Error(fmt::format(format, std::forward<Args>(args)...), ENOENT);
}

/* Throws an Error with the formatted text, a colon, and the meaning of
 * `code` (an errno). */
template <typename... Args>
[[noreturn]] void fail_errno(int code, fmt::format_string<Args...> format,
                             Args &&...args)
{
    throw Error(fmt::format(format, std::forward<Args>(args)...) + ": " +
                    std::strerror(code),
                code);
}

} // namespace ckpt
