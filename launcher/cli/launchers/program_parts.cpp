/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_parts.cpp - splits a command at colons, or reads the lines of an appfile.
 */
#include "cli/launchers/program_parts.hpp"

#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>
#include <utility>

namespace ckpt::cli
{

namespace
{

/* Returns the commands between colons, each preceded by the launcher. */
std::vector<Words> commands_of(const Words &command)
{
    std::vector<Words> commands(1);

    for (const std::string &word : command) {
        if (word == ":") {
            commands.push_back({command.front()});
        } else {
            commands.back().push_back(word);
        }
    }
    return commands;
}

/* Splits a line into words as both launchers do: at blanks outside of quotes. */
Words words_of_line(const std::string &line)
{
    Words words;
    bool is_within = false;
    char quote = '\0';

    for (const char letter : line) {
        const bool is_blank = letter == ' ' || letter == '\t' || letter == '\r';
        if (quote != '\0' ? letter == quote : letter == '"' || letter == '\'') {
            quote = quote != '\0' ? '\0' : letter;
        } else if (quote == '\0' && is_blank) {
            is_within = false;
            continue;
        } else {
            if (!is_within) {
                words.emplace_back();
            }
            words.back() += letter;
        }
        if (!is_within && quote != '\0') {
            words.emplace_back();
        }
        is_within = true;
    }
    return words;
}

/* Returns the lines of the appfile, each preceded by the launcher. */
std::vector<Words> commands_in(const std::filesystem::path &appfile, const std::string &launcher)
{
    std::istringstream text(read_text_file(appfile, "the launcher's appfile"));
    std::vector<Words> commands;

    for (std::string line; std::getline(text, line);) {
        Words words = words_of_line(line.substr(0, line.find('#')));
        if (words.empty()) {
            continue;
        }
        words.insert(words.begin(), launcher);
        commands.push_back(std::move(words));
    }
    return commands;
}

std::vector<LaunchLine> parsed(const std::vector<Words> &commands, const Words &application)
{
    std::vector<LaunchLine> parts;

    for (const Words &command : commands) {
        parts.push_back(parse_launch_line(command, parts.empty() ? application : Words()));
    }
    return parts;
}

/* Returns the option that names the appfile, or nullptr. */
const LaunchOption *appfile_of(const LaunchLine &line)
{
    const LaunchOption *found = line.find("app");
    return found != nullptr ? found : line.find("configfile");
}

} // namespace

std::vector<LaunchLine> program_parts(const Words &command, const Words &application,
                                      const std::filesystem::path &directory)
{
    std::vector<LaunchLine> parts = parsed(commands_of(command), application);
    const LaunchOption *appfile = appfile_of(parts.front());

    if (appfile == nullptr) {
        return parts;
    }
    LaunchLine global = parts.front();
    parts = parsed(commands_in(directory / appfile->values.at(0), global.program), application);
    if (parts.empty()) {
        stop_with(exit_usage, "{} names no program", appfile->values.at(0));
    }
    global.remove("app");
    global.remove("configfile");
    parts.front().options.insert(parts.front().options.begin(), global.options.begin(),
                                 global.options.end());
    return parts;
}

std::vector<int> ranks_of_parts(const std::vector<LaunchLine> &parts, int ranks)
{
    std::vector<int> counts;
    int silent = 0, left = ranks;

    for (const LaunchLine &part : parts) {
        const LaunchOption *option = part.find("np");
        int count = 0;
        if (option != nullptr) {
            const std::string &text = option->values.at(0);
            const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
            if (result.ec != std::errc() || count <= 0 || count > left) {
                return {};
            }
        } else if (++silent > 1) {
            return {};
        }
        left -= count;
        counts.push_back(count);
    }
    if (left > 0 && silent == 1) {
        CKPT_INVARIANT(std::ranges::count(counts, 0) == 1);
        *std::ranges::find(counts, 0) = left;
        left = 0;
    }
    return left == 0 && std::ranges::count(counts, 0) == 0 ? counts : std::vector<int>();
}

Words join_program_parts(const std::vector<LaunchLine> &parts)
{
    CKPT_EXPECT(!parts.empty());
    Words words = join_launch_line(parts.front());

    for (auto part = std::next(parts.begin()); part != parts.end(); ++part) {
        const Words more = join_launch_line(*part);
        words.emplace_back(":");
        words.insert(words.end(), more.begin() + 1, more.end());
    }
    return words;
}

} // namespace ckpt::cli
