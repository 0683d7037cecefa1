/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage.cpp - error messages about command lines.
 */
#include "cli/base/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <vector>

namespace ckpt::cli
{

namespace
{

/* Returns the Damerau-Levenshtein distance: the number of letters to insert, delete, replace or
 * exchange with the next. */
std::size_t distance(const std::string &from, const std::string &to)
{
    const std::size_t width = to.size() + 1;
    std::vector<std::size_t> table((from.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t & {
        return table[i * width + j];
    };

    for (std::size_t i = 0; i <= from.size(); i++) {
        for (std::size_t j = 0; j <= to.size(); j++) {
            if (i == 0 || j == 0) {
                at(i, j) = i + j;
                continue;
            }
            const std::size_t changed = from[i - 1] == to[j - 1] ? 0 : 1;
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + changed});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
            }
        }
    }
    return table.back();
}

Words options_of(const CLI::App &app)
{
    Words names;
    for (const CLI::Option *option : app.get_options()) {
        if (!option->get_positional()) {
            names.push_back(option->get_name());
        }
    }
    return names;
}

bool is_option(const std::string &word)
{
    return word.size() > 1 && word.front() == '-';
}

std::string name_of(const std::string &option)
{
    return option.substr(0, option.find('='));
}

/* Returns the first word that CLI11 could not match. */
std::string first_left_over(const CLI::App &app, const Words &words)
{
    const Words left = app.remaining(true);
    const auto found = std::ranges::find_if(words, [&](const std::string &word) {
        return std::ranges::find(left, word) != left.end();
    });
    return found == words.end() ? std::string() : *found;
}

std::string unexpected(const CLI::App &app, const std::string &rest, const Words &words)
{
    const CLI::App &command = *app.get_subcommands().front();
    const std::string word = first_left_over(app, words);
    const std::string name = command.get_name();

    if (is_option(word)) {
        const Words known = options_of(command);
        if (std::ranges::find(known, name_of(word)) != known.end()) {
            return fmt::format("{} goes behind the command: ckpt {} {}", word, name, word);
        }
        return fmt::format("{} has no option {}{}", name, name_of(word),
                           suggestion(name_of(word), known));
    }
    if (!rest.empty()) {
        return fmt::format("{}: '{}' and what follows it must be behind --: ckpt {} {}", name, word,
                           name, rest);
    }
    return fmt::format("{}: '{}' is one word too many", name, word);
}

} // namespace

std::string nearest(const std::string &word, const Words &candidates)
{
    std::string best;
    /* Candidates at a greater distance are unlikely to be meant. */
    std::size_t least = 1 + std::max<std::size_t>(1, word.size() / 3);

    for (const std::string &candidate : candidates) {
        const std::size_t steps = distance(word, candidate);
        if (steps < least) {
            least = steps;
            best = candidate;
        }
    }
    return best;
}

std::string suggestion(const std::string &word, const Words &candidates)
{
    const std::string best = nearest(word, candidates);
    return best.empty() ? best : fmt::format("; did you mean '{}'?", best);
}

CLI::Validator whole_number_from(long long least)
{
    return CLI::Validator(
        [least](std::string &text) {
            long long value = 0;
            const char *end = text.data() + text.size();
            const auto result = std::from_chars(text.data(), end, value);
            return result.ec == std::errc() && result.ptr == end && value >= least
                       ? std::string()
                       : fmt::format("invalid number '{}': expected a whole number from {} on", text, least);
        },
        "");
}

CLI::Validator one_of(std::initializer_list<const char *> words)
{
    const Words known(words.begin(), words.end());
    return CLI::Validator(
        [known](std::string &text) {
            return std::ranges::find(known, text) != known.end()
                       ? std::string()
                       : fmt::format("'{}' is none of {}{}", text, fmt::join(known, ", "),
                                     suggestion(text, known));
        },
        "");
}

CLI::Validator byte_size()
{
    return CLI::Validator(
        [](std::string &text) {
            const std::string given = text;
            try {
                if (CLI::AsSizeValue(false)(text).empty()) {
                    return std::string();
                }
            } catch (const CLI::Error &) { /* throw an error with our own text instead */
            }
            return fmt::format("invalid number of bytes '{}'; write for example 200M or 1G", given);
        },
        "");
}

std::string usage_error(const Program &program, const Words &words,
                        const CLI::ParseError &problem)
{
    const auto parsed = program.app.get_subcommands();

    if (parsed.empty()) {
        const std::string word = words.empty() ? "" : words.front();
        return is_option(word) ? fmt::format("ckpt has no option {}{}", word,
                                             suggestion(word, options_of(program.app)))
                               : "give a command";
    }
    if (dynamic_cast<const CLI::ExtrasError *>(&problem) != nullptr) {
        return unexpected(program.app, program.rest_usage(*parsed.front()), words);
    }
    if (dynamic_cast<const CLI::ArgumentMismatch *>(&problem) != nullptr) {
        const std::string text = problem.what();
        return fmt::format("{} needs a value", text.substr(0, text.find(':')));
    }
    return problem.what();
}

} // namespace ckpt::cli
