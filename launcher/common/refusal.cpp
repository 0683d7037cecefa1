/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refusal.cpp - names of refusals, and refusals of exceptions.
 */
#include "common/refusal.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <cerrno>

namespace ckpt
{

ckpt_refusal refusal_of(std::uint64_t number)
{
    switch (number) {
#define NUMBER(number, identifier, name, meaning, remedy) \
    case number:                                          \
        return CKPT_REFUSAL_##identifier;
        CKPT_REFUSALS(NUMBER)
#undef NUMBER
    default:
        return CKPT_REFUSAL_UNNAMED;
    }
}

ckpt_refusal refusal_of(std::string_view wanted)
{
#define IF_NAMED(number, identifier, name, meaning, remedy) \
    if (wanted == name) {                                   \
        return CKPT_REFUSAL_##identifier;                   \
    }
    CKPT_REFUSALS(IF_NAMED)
#undef IF_NAMED
    return CKPT_REFUSAL_UNNAMED;
}

std::string Refusal::text() const
{
    return empty() ? "" : fmt::format("{} [{}]", detail_, ckpt_refusal_name(identity_));
}

Refusal refusal_from_text(std::string_view text)
{
    const std::size_t begin = text.rfind(" [");

    if (begin == text.npos || !text.ends_with(']')) {
        return {CKPT_REFUSAL_UNNAMED, std::string(text)};
    }
    const ckpt_refusal identity =
        refusal_of(text.substr(begin + 2, text.size() - begin - 3));
    const bool is_named = text == Refusal(identity, std::string(text.substr(0, begin))).text();
    return {identity, std::string(is_named ? text.substr(0, begin) : text)};
}

Refusal Refusal::after(std::string_view prefix) const
{
    return empty() ? *this : Refusal(identity_, std::string(prefix) + detail_);
}

Refusal refusal_of(const std::exception &problem, ckpt_refusal otherwise)
{
    const auto *error = dynamic_cast<const Error *>(&problem);

    if (dynamic_cast<const InvariantViolated *>(&problem) != nullptr) {
        otherwise = CKPT_REFUSAL_INTERNAL_ERROR;
    } else if (error != nullptr && error->identity() != CKPT_REFUSAL_NONE) {
        otherwise = error->identity();
    } else if (error != nullptr && (error->code() == ENOSPC || error->code() == EDQUOT)) {
        otherwise = CKPT_REFUSAL_NO_SPACE;
    } else if (error != nullptr && error->code() == EKEYREJECTED) {
        otherwise = CKPT_REFUSAL_WRONG_KEY;
    }
    return {otherwise, problem.what()};
}

std::string message_of(const std::exception &problem)
{
    const Refusal why = refusal_of(problem);

    return why.empty() ? problem.what() : why.text();
}

} // namespace ckpt
