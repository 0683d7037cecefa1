/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * other_launcher.cpp - translates options of one launcher to those of another.
 */
#include "cli/launchers/other_launcher.hpp"

#include <set>

namespace ckpt::cli
{

namespace
{

/* Options that only concern Open MPI or its launcher, and have no equivalent
 * elsewhere. */
const std::set<std::string> open_mpi_only = {
    "allow-run-as-root", "am", "amca", "gmca", "gomca",
    "mca", "np", "omca", "oversubscribe", "personality",
    "pmixmca", "prtemca", "q", "quiet", "tune",
    "use-hwthread-cpus"};
const std::set<std::string> ckpt_only = {"bind-to", "np", "pmix"};
const std::set<std::string> hydra_only = {
    "disable-auto-cleanup", "genvall", "envall", "memory-alloc-kinds", "np",
    "print-all-exitcodes"};

[[noreturn]] void no_counterpart(const LaunchLine &line,
                                 const LaunchOption &option)
{
    std::string text;
    for (const std::string &word : option.words) {
        text += (text.empty() ? "" : " ") + word;
    }
    stop_with(exit_usage, "'{}' of {} has no counterpart in the other launcher",
              text, line.program);
}

} // namespace

LaunchOption exported(Launcher launcher, const std::string &name,
                      const std::string &value)
{
    if (launcher == Launcher::hydra) {
        return {"genv", {name, value}, {"-genv", name, value}};
    }
    std::string text = name + "=" + value;
    return {"x", {text}, {"-x", text}};
}

std::string exported_name(const LaunchOption &option)
{
    if (option.name != "x" && option.name != "genv") {
        return "";
    }
    return option.values[0].substr(0, option.values[0].find('='));
}

bool has_exported_value(const LaunchOption &option)
{
    return option.values.size() > 1 ||
           option.values[0].find('=') != std::string::npos;
}

std::string exported_value(const LaunchOption &option)
{
    std::size_t equals = option.values[0].find('=');
    if (equals != std::string::npos) {
        return option.values[0].substr(equals + 1);
    }
    return option.values.size() > 1 ? option.values[1] : "";
}

std::vector<LaunchOption> options_for_other(const LaunchLine &line, Launcher to)
{
    const auto &left_out = line.launcher == Launcher::open_mpi ? open_mpi_only
                           : line.launcher == Launcher::ckpt   ? ckpt_only
                                                               : hydra_only;
    const char *wdir = to == Launcher::ckpt ? "--wdir" : "-wdir";
    std::vector<LaunchOption> options;

    for (const LaunchOption &option : line.options) {
        if (left_out.contains(option.name)) {
            continue;
        }
        if (option.name == "wdir") {
            options.push_back(
                {"wdir", option.values, {wdir, option.values[0]}});
        } else if (std::string name = exported_name(option); name.empty()) {
            no_counterpart(line, option);
        } else if (has_exported_value(option)) {
            options.push_back(exported(to, name, exported_value(option)));
        }
    }
    if (to == Launcher::open_mpi) { /* hydra has no limit of ranks per node */
        options.push_back({"oversubscribe", {}, {"--oversubscribe"}});
    }
    return options;
}

} // namespace ckpt::cli
