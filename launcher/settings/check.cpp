/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.cpp - which values settings may have. The parser of a type is also its check.
 */
#include "settings/settings.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/nearest_word.hpp"
#include "common/switch.hpp"
#include "fabric/choice.hpp"
#include "image/codec/codec.hpp"
#include "image/memory/page_pool.hpp"
#include "image/model/snapshot_method.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/store.hpp"
#include "image/store/tiers.hpp"
#include "protocol/checkpoint_interval.hpp"
#include "protocol/cut_choice.hpp"
#include "redundancy/scheme.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

namespace ckpt::settings
{

namespace
{

std::vector<std::string> words_of(const char *list)
{
    std::istringstream text(list);
    return {std::istream_iterator<std::string>(text), {}};
}

void check_word(const std::string &text, const std::vector<std::string> &words)
{
    if (std::ranges::find(words, text) == words.end()) {
        fail("'{}' is none of {}{}", text, fmt::join(words, ", "), suggestion(text, words));
    }
}

void check_number(const Setting &setting, const std::string &text)
{
    std::uint64_t value = 0;
    const char *end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec == std::errc() && result.ptr == end && value >= setting.least &&
        value <= setting.most) {
        return;
    }
    const bool has_end = setting.most < INT_MAX;
    fail("invalid number '{}': expected a whole number from {} {}", text, setting.least,
         has_end ? fmt::format("to {}", setting.most) : "on");
}

/* CLI11 reads these words. */
void check_flag(const std::string &text)
{
    static const std::vector<std::string> words = {"1", "true", "on", "yes", "y", "t",
                                                   "0", "false", "off", "no", "n", "f"};
    std::string lower = text;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (std::ranges::find(words, lower) == words.end()) {
        fail("'{}' is neither 1 nor 0", text);
    }
}

void check_duration_above_zero(const std::string &text)
{
    if (parse_duration(text).count() == 0) {
        fail("invalid duration '{}': must be greater than 0", text);
    }
}

} // namespace

std::uint64_t parse_bytes(const std::string &text)
{
    std::string number = text;
    try {
        const bool has_sign = text.starts_with('-'); /* CLI11 would take 2**64 less the number */
        if (!has_sign && CLI::AsSizeValue(false)(number).empty()) {
            return std::stoull(number);
        }
    } catch (const std::exception &) { /* throw an error with our own text instead */
    }
    fail("invalid number of bytes '{}'; write for example 200M or 1G", text);
}

void check(const Setting &setting, const std::string &value)
{
    switch (setting.type) {
    case Type::auto_switch:
        switch_from(value);
        break;
    case Type::bytes:
        parse_bytes(value);
        break;
    case Type::codec:
        Codec::parse(value);
        break;
    case Type::directories:
        TierDirectories::parse(value);
        break;
    case Type::duration:
        parse_duration(value);
        break;
    case Type::duration_above_zero:
        check_duration_above_zero(value);
        break;
    case Type::fabric:
        fabric::Choice::parse(value);
        break;
    case Type::flag:
        check_flag(value);
        break;
    case Type::granule:
        require_granule(parse_bytes(value));
        break;
    case Type::interval:
        CheckpointInterval::parse(value);
        break;
    case Type::job_name:
        require_job_name(value);
        break;
    case Type::number:
        check_number(setting, value);
        break;
    case Type::protocol:
        CutChoice::protocol_from(value);
        break;
    case Type::redundancy:
        redundancy::Scheme::parse(value);
        break;
    case Type::snapshot:
        snapshot_method_from(value);
        break;
    case Type::stagger:
        CutChoice::stagger_from(value);
        break;
    case Type::word:
        check_word(value, words_of(setting.words));
        break;
    case Type::key:     /* read when it is used */
    case Type::levels:  /* checked by the command, with its other options */
    case Type::signals: /* likewise */
    case Type::path:
    case Type::text:
        break;
    }
}

void check_named(const Setting &setting, const std::string &value)
{
    try {
        check(setting, value);
    } catch (const Error &problem) {
        fail("{}: {}", setting.variable, problem.what());
    }
}

std::string handed_on(const Setting &setting, const std::string &value)
{
    switch (setting.type) {
    case Type::bytes:
    case Type::granule:
        return std::to_string(parse_bytes(value));
    case Type::directories:
        return TierDirectories::parse(value).text();
    case Type::key:
        return absolute_key_source(value);
    case Type::path:
        return std::filesystem::absolute(value);
    default:
        return value;
    }
}

} // namespace ckpt::settings
