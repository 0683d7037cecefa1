/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_line.cpp - adds the options that enable checkpoints to a launch command.
 */
#include "cli/run/run_line.hpp"

#include "cli/launchers/other_launcher.hpp"
#include "cli/run/tune_file.hpp"

#include <optional>

namespace ckpt::cli
{

namespace
{

/* Parses the command; returns nothing if it has unknown options. */
std::optional<LaunchLine> try_parse(const Words &command)
{
    try {
        return parse_launch_line(command);
    } catch (const CommandError &) {
        return std::nullopt;
    }
}

/* Removes -x LD_PRELOAD[=LIST] (-genv for hydra) from the options, because it would override
 * the plugin's. Returns the user's list. */
std::string take_preload(LaunchLine &line, const std::string &preload)
{
    std::string list = preload;
    std::erase_if(line.options, [&](const LaunchOption &option) {
        if (exported_name(option) != "LD_PRELOAD") {
            return false;
        }
        if (has_exported_value(option)) {
            list = exported_value(option);
        }
        return true;
    });
    return list;
}

LaunchOption tune_option(const std::string &files)
{
    return {"tune", {files}, {"--tune", files}};
}

/* Removes the settings that a tune file cannot carry; mpirun's own environment passes them on.
 * Examples: a comma separates two directories, and a command that prints a key has blanks. */
Environment take_unwritable(Environment &settings)
{
    Environment taken;
    for (const auto &[name, value] : settings) {
        if (value.find_first_of(" \t\n,'\"\\") != value.npos) {
            taken.emplace(name, value);
        }
    }
    for (const auto &[name, value] : taken) {
        settings.erase(name);
    }
    return taken;
}

void export_by_name(Words &command, const Environment &variables)
{
    for (const auto &[name, value] : variables) {
        command.insert(command.begin() + 1, {"-x", name});
    }
}

Invocation with_tune_file(Words command, const std::filesystem::path &libraries,
                          const std::string &preload, Environment settings)
{
    const Environment by_name = take_unwritable(settings);
    export_by_name(command, by_name);
    auto provide = [&](const std::string &list) {
        return provide_launch_file(tune_file_text(plugin_environment(libraries, list, settings)));
    };
    auto line = try_parse(command);
    if (!line) {
        const std::filesystem::path file = provide(preload);
        Words words = command;
        words.insert(words.begin() + 1, {"--tune", file.string()});
        return {words, by_name, {}, false, -1, file};
    }
    const std::filesystem::path file = provide(take_preload(*line, preload));
    std::string files = file.string();
    if (const LaunchOption *tune = line->find("tune")) {
        files = tune->values[0] + "," + files;
        line->remove("tune");
    }
    line->options.insert(line->options.begin(), tune_option(files));
    return {join_launch_line(*line), by_name, {}, false, -1, file};
}

/* For hydra and ckpt-launch, whose options carry any value. */
Invocation with_options(const Words &command,
                        const std::filesystem::path &libraries,
                        const std::string &preload, const Environment &settings)
{
    LaunchLine line = parse_launch_line(command);
    std::string list = take_preload(line, preload);
    for (const auto &[name, value] :
         plugin_environment(libraries, list, settings)) {
        line.options.push_back(exported(line.launcher, name, value));
    }
    return {join_launch_line(line), {}, {}, false};
}

/* srun passes on its own environment, including values with commas. The option only sets
 * LD_PRELOAD, because the plugin must not be loaded into srun itself. */
Invocation with_export(const Words &command, Environment variables)
{
    LaunchLine line = parse_launch_line(command);
    const LaunchOption *given = line.find("export");
    std::string list = given != nullptr ? given->values[0] : "ALL";
    if (list == "NONE" || list == "NIL") {
        list.clear(); /* --export then passes only the variables that it names */
    }
    const std::string preload = variables.extract("LD_PRELOAD").mapped();
    if (preload.find(',') != preload.npos) {
        stop_with(exit_usage, "srun --export cannot carry LD_PRELOAD={}: it has a comma",
                  preload);
    }
    for (const auto &[name, value] : variables) {
        list += (list.empty() ? "" : ",") + name;
    }
    list += ",LD_PRELOAD=" + preload;
    line.remove("export");
    line.options.push_back({"export", {list}, {"--export=" + list}});
    add_pmix(line);
    return {join_launch_line(line), variables, {}, false};
}

} // namespace

Invocation with_plugin(const Words &command,
                       const std::filesystem::path &libraries,
                       const std::string &preload,
                       const Environment &settings)
{
    if (command.empty()) {
        stop_with(exit_usage, "there is no command to start");
    }
    Environment variables = plugin_environment(libraries, preload, settings);
    switch (launcher_of(command[0])) {
    case Launcher::open_mpi:
        return with_tune_file(command, libraries, preload, settings);
    case Launcher::hydra:
    case Launcher::ckpt:
        return with_options(command, libraries, preload, settings);
    case Launcher::slurm:
        return with_export(command, variables);
    case Launcher::other:
        break;
    }
    return {command, variables, {}, true};
}

std::string shell_words(const Words &words)
{
    constexpr const char *plain = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-+=./,:@%";
    std::string text;
    for (const std::string &word : words) {
        text += text.empty() ? "" : " ";
        if (!word.empty() && word.find_first_not_of(plain) == word.npos) {
            text += word;
            continue;
        }
        text += '\'';
        for (char c : word) {
            text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        }
        text += '\'';
    }
    return text;
}

} // namespace ckpt::cli
