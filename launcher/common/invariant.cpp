/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * invariant.cpp - remembers the first violated invariant of the process.
 */
#include "common/invariant.hpp"

#include "common/error.hpp"

#include <atomic>
#include <mutex>
#include <string_view>

namespace ckpt
{

namespace
{

std::atomic<bool> unsound = false;
std::mutex mutex;
std::string first; /* guarded by mutex */

/* Returns the part of a file's name that does not depend on where the source tree is. */
std::string_view within_tree(std::string_view file)
{
    constexpr std::string_view top = "launcher/";
    const std::size_t at = file.rfind(top);
    return at == std::string_view::npos ? file : file.substr(at + top.size());
}

} // namespace

void violated(const char *condition, const char *file, int line)
{
    const std::string text = fmt::format("internal error: {}:{}: '{}' does not hold (please "
                                         "report this)",
                                         within_tree(file), line, condition);
    {
        std::lock_guard lock(mutex);
        if (first.empty()) {
            first = text;
        }
    }
    unsound = true;
    throw InvariantViolated(text);
}

bool is_unsound() noexcept
{
    return unsound;
}

std::string first_violation()
{
    std::lock_guard lock(mutex);
    return first;
}

Refusal refusal_of_violation()
{
    return {CKPT_REFUSAL_INTERNAL_ERROR, first_violation()};
}

void require_sound()
{
    if (is_unsound()) {
        throw Error(first_violation(), 0, CKPT_REFUSAL_INTERNAL_ERROR);
    }
}

void forget_violations()
{
    std::lock_guard lock(mutex);
    unsound = false;
    first.clear();
}

} // namespace ckpt
