/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output_files.cpp - finds output files in the options of mpirun (Open MPI 4.1 and 5.0),
 * mpiexec of MPICH and srun.
 */
#include "cli/run/output_files.hpp"

#include <CLI/StringTools.hpp>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

namespace ckpt::cli
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *append_library = "libckpt-append.so";
constexpr const char *append_variable = "CKPT_APPEND"; /* see launcher/append/append.c */

const std::set<std::string_view> path_options = {"output-filename", "output-directory",
                                                 "xml-file"};
const std::set<std::string_view> pattern_options = {"outfile-pattern", "errfile-pattern"};
const std::set<std::string_view> srun_options = {"o", "output", "e", "error"};

std::string before(const std::string &text, char end)
{
    return text.substr(0, text.find(end));
}

/* Returns the paths in --output of Open MPI 5.0: "tag,dir=logs,file=out:raw". */
Words named_paths(const std::string &value)
{
    Words paths;
    for (const std::string &word : CLI::detail::split(value, ',')) {
        const auto equals = word.find('=');
        const std::string name = before(word, '=');
        if (equals != word.npos &&
            (std::string_view("directory").starts_with(name) ||
             std::string_view("filename").starts_with(name))) {
            paths.push_back(before(word.substr(equals + 1), ':'));
        }
    }
    return paths;
}

Words paths_of(const LaunchOption &option)
{
    if (path_options.contains(option.name)) {
        return {before(option.values.at(0), ':')};
    }
    if (pattern_options.contains(option.name)) {
        return {before(option.values.at(0), '%')};
    }
    return option.name == "output" ? named_paths(option.values.at(0)) : Words{};
}

void append_with_srun(LaunchLine &line)
{
    const bool has_files =
        std::any_of(line.options.begin(), line.options.end(), [](const LaunchOption &option) {
            return srun_options.contains(option.name);
        });
    if (has_files && line.find("open-mode") == nullptr) {
        line.options.push_back({"open-mode", {"append"}, {"--open-mode=append"}});
    }
}

/* Whether the launcher has daemons on other nodes that write files and do not get mpirun's
 * environment. Slurm passes the environment on. */
bool has_remote_daemons(const LaunchLine &line)
{
    return std::getenv("SLURM_JOB_ID") == nullptr &&
           (line.find("host") != nullptr || line.find("hostfile") != nullptr ||
            line.find("machinefile") != nullptr || line.find("default-hostfile") != nullptr);
}

std::optional<LaunchLine> try_parse(const Words &command)
{
    try {
        return parse_launch_line(command);
    } catch (const CommandError &) {
        return std::nullopt;
    }
}

} // namespace

Words output_paths(const LaunchLine &line, const fs::path &directory)
{
    Words all;
    if (line.launcher != Launcher::open_mpi && line.launcher != Launcher::hydra) {
        return all;
    }
    for (const LaunchOption &option : line.options) {
        for (const std::string &path : paths_of(option)) {
            all.push_back((directory / path).string()); /* leaves an absolute path unchanged */
        }
    }
    return all;
}

void continue_output_files(Invocation &invocation, const fs::path &libraries)
{
    auto line = try_parse(invocation.command);
    if (!line) {
        return;
    }
    if (line->launcher == Launcher::slurm) {
        append_with_srun(*line);
        invocation.command = join_launch_line(*line);
        return;
    }
    const fs::path here =
        invocation.directory.empty() ? fs::current_path() : invocation.directory;
    const Words paths = output_paths(*line, here);
    if (paths.empty()) {
        return;
    }
    if (line->launcher == Launcher::open_mpi && has_remote_daemons(*line)) {
        fmt::print(stderr, "ckpt: output files of ranks on other nodes are begun again\n");
    }
    const char *preload = std::getenv("LD_PRELOAD");
    invocation.environment["LD_PRELOAD"] =
        fmt::format("{}{}{}", (libraries / append_library).string(),
                    preload == nullptr ? "" : ":", preload == nullptr ? "" : preload);
    invocation.environment[append_variable] = fmt::format("{}", fmt::join(paths, ":"));
}

} // namespace ckpt::cli
