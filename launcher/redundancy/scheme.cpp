/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scheme.cpp - names of redundancy schemes.
 */
#include "config.h"
#include "redundancy/scheme.hpp"

#include "common/error.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ckpt::redundancy
{

namespace
{

using Kind = Scheme::Kind;

constexpr std::string_view rs = "rs";

std::optional<unsigned> number_in(std::string_view text)
{
    const char *end = text.data() + text.size();
    unsigned number = 0;
    auto [stop, error] = std::from_chars(text.data(), end, number);

    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/* Parses the part before the slash; returns nothing if it is not a scheme. */
std::optional<Scheme> scheme_named(std::string_view name)
{
    if (name == "none") {
        return Scheme{Kind::none, 0, 1};
    }
    if (name == "partner") {
        return Scheme{Kind::partner, 1, 2};
    }
    if (name == "parity") {
        return Scheme{Kind::parity, 1, usual_group};
    }
    if (name.starts_with(rs)) {
        const auto losses = number_in(name.substr(rs.size()));
        if (losses && *losses > 0) {
            return Scheme{Kind::reed_solomon, *losses, usual_group};
        }
    }
    return {};
}

bool has_wanted_size(Kind kind)
{
    return kind == Kind::parity || kind == Kind::reed_solomon;
}

} // namespace

Scheme Scheme::parse(const std::string &text)
{
    const std::size_t slash = text.find('/');
    auto scheme = scheme_named(std::string_view(text).substr(0, slash));

    if (!scheme || (slash != text.npos && !has_wanted_size(scheme->kind))) {
        fail("unknown protection '{}': use none, partner, parity, parity/N or rsK, rsK/N (any K "
             "of N nodes may be lost)",
             text);
    }
    if (slash != text.npos) {
        scheme->group = number_in(std::string_view(text).substr(slash + 1)).value_or(0);
        if (scheme->group < 2 || scheme->group > largest_group) {
            fail("'{}': a group has 2 to {} nodes", text, largest_group);
        }
    }
    if (scheme->losses >= scheme->group && scheme->kind != Kind::none) {
        fail("'{}': of a group of {} nodes no {} can be lost", text, scheme->group,
             scheme->losses);
    }
    return *scheme;
}

std::string Scheme::text() const
{
    const std::string size =
        group == usual_group ? std::string() : fmt::format("/{}", group);

    switch (kind) {
    case Kind::none:
        return "none";
    case Kind::partner:
        return "partner";
    case Kind::parity:
        return "parity" + size;
    case Kind::reed_solomon:
        return fmt::format("rs{}{}", losses, size);
    }
    return {};
}

} // namespace ckpt::redundancy
