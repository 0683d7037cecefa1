/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage.cpp - error messages about command lines.
 */
#include "cli/base/usage.hpp"

#include "common/nearest_word.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt::cli
{

namespace
{

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
