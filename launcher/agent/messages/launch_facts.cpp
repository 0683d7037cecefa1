/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_facts.cpp - how the job was started, read from /proc.
 */
#include "agent/messages/launch_facts.hpp"

#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "settings/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

constexpr std::array<std::string_view, 7> launchers = {
    "mpirun", "mpiexec", "orterun", "prterun", "srun", "mpiexec.hydra", "ckpt-launch"};
constexpr std::array<std::string_view, 2> restart_programs = {"ckpt-restart", "ckpt-gather"};

std::string proc(pid_t pid, std::string_view file)
{
    return fmt::format("/proc/{}/{}", pid, file);
}

std::string read_all(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/* Returns the strings of cmdline or environ. */
std::vector<std::string> list_of(pid_t pid, std::string_view file)
{
    std::vector<std::string> list;
    std::string text = read_all(proc(pid, file));

    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = std::min(text.find('\0', at), text.size());
        list.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return list;
}

std::vector<std::string> arguments_of(pid_t pid)
{
    return list_of(pid, "cmdline");
}

std::string link_of(pid_t pid, std::string_view file)
{
    std::error_code error;
    return fs::read_symlink(proc(pid, file), error).string();
}

/* Compares both argv[0] and the executable's name, as mpirun is often a link. */
bool is_launcher(pid_t pid, const std::vector<std::string> &arguments)
{
    std::string called =
        arguments.empty() ? "" : fs::path(arguments[0]).filename().string();
    std::string is = fs::path(link_of(pid, "exe")).filename().string();

    return std::any_of(launchers.begin(), launchers.end(),
                       [&](std::string_view launcher) {
                           return called == launcher || is == launcher ||
                                  called == fmt::format("{}.openmpi", launcher) ||
                                  called == fmt::format("{}.mpich", launcher);
                       });
}

/* Whether both processes have the same place in the launch. A launcher gives one place to one
 * process, so one of them has started the other. */
bool have_one_place(pid_t rank, pid_t parent)
{
    const std::vector<std::string> theirs = list_of(parent, "environ");

    return std::ranges::any_of(list_of(rank, "environ"), [&](const std::string &entry) {
        return (entry.starts_with("PMIX_NAMESPACE=") || entry.starts_with("PMI_FD=")) &&
               std::ranges::find(theirs, entry) != theirs.end();
    });
}

/* Returns the value of a variable in `environment`, or "" if it is not set. */
std::string value_of(char *const environment[], std::string_view name)
{
    for (; *environment != nullptr; environment++) {
        std::string_view entry = *environment;
        if (entry.size() > name.size() && entry.starts_with(name) &&
            entry[name.size()] == '=') {
            return std::string(entry.substr(name.size() + 1));
        }
    }
    return "";
}

/* srun is not an ancestor of its ranks, but it passes its important options to them in
 * variables. Returns an empty list if another launcher is in between. */
std::vector<std::string> srun_line(char *const environment[])
{
    const std::string ranks = value_of(environment, "SLURM_STEP_NUM_TASKS");
    const std::string nodes = value_of(environment, "SLURM_STEP_NUM_NODES");
    if (ranks.empty() || nodes.empty() || value_of(environment, "PMIX_RANK").empty() ||
        !value_of(environment, "OMPI_COMM_WORLD_RANK").empty()) {
        return {};
    }
    return {"srun", "--mpi=pmix", "-N", nodes, "-n", ranks};
}

} // namespace

LaunchFacts read_launch_facts(pid_t rank, bool alone)
{
    CKPT_EXPECT(rank > 0);
    LaunchFacts facts;

    facts.application = arguments_of(rank);
    facts.directory = link_of(rank, "cwd");
    facts.program = fs::path(facts.application.empty()
                                 ? link_of(rank, "exe")
                                 : facts.application[0])
                        .filename()
                        .string();
    if (alone) {
        facts.launcher_pid = rank;
        return facts;
    }
    if (const pid_t parent = parent_of(rank); parent > 1 && have_one_place(rank, parent)) {
        facts.waiting_parent = arguments_of(parent);
    }
    for (pid_t pid = parent_of(rank); pid > 1; pid = parent_of(pid)) {
        std::vector<std::string> arguments = arguments_of(pid);
        if (is_launcher(pid, arguments)) {
            facts.launcher_pid = pid;
            facts.launcher = std::move(arguments);
            facts.launcher_directory = link_of(pid, "cwd");
            break;
        }
    }
    return facts;
}

Launch launch_record(const LaunchFacts &facts, char *const environment[])
{
    CKPT_EXPECT(environment != nullptr);
    Launch launch;

    launch.launcher = facts.launcher;
    launch.launcher_directory = facts.launcher_directory.empty()
                                    ? facts.directory
                                    : facts.launcher_directory;
    launch.application = facts.application;
    launch.waiting_parent = facts.waiting_parent;
    if (launch.launcher.empty() && facts.launcher_pid == 0) {
        launch.launcher = srun_line(environment);
        if (!launch.launcher.empty()) {
            launch.launcher.insert(launch.launcher.end(), launch.application.begin(),
                                   launch.application.end());
        }
    }
    auto restart = std::find_if(
        launch.launcher.begin(), launch.launcher.end(),
        [](const std::string &argument) {
            const auto name = fs::path(argument).filename().string();
            return std::ranges::find(restart_programs, name) != restart_programs.end();
        });
    if (restart != launch.launcher.end()) {
        launch.launcher.erase(restart, launch.launcher.end());
        launch.launcher.insert(launch.launcher.end(),
                               launch.application.begin(),
                               launch.application.end());
    }
    for (; *environment != nullptr; environment++) {
        std::string_view entry = *environment;
        std::size_t equals = entry.find('=');
        if (entry.starts_with("CKPT_") && equals != std::string_view::npos &&
            settings::is_recorded(entry.substr(0, equals))) {
            launch.environment.emplace(entry.substr(0, equals),
                                       entry.substr(equals + 1));
        }
    }
    return launch;
}

} // namespace ckpt
