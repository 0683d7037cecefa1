/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_name.cpp - names made from the program and the batch job.
 */
#include "cli/job_name.hpp"

#include "agent/control.hpp"
#include "cli/launch_line.hpp"
#include "cli/run_line.hpp"

#include <fmt/core.h>

#include <cctype>
#include <optional>

#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr std::size_t longest_program = 100;

std::string program_part(const Words &command)
{
    std::string program;
    try {
        LaunchLine line = parse_launch_line(command);
        program = line.launcher == Launcher::other || line.application.empty()
                      ? command[0]
                      : line.application[0];
    } catch (const CommandError &) {
        program = command[0]; /* of which we do not know the options */
    }
    std::string name = std::filesystem::path(program).filename();
    for (char &c : name) {
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    return name.substr(0, longest_program);
}

/* Of which command a job's newest checkpoint is. */
std::optional<std::string> identity_of(const Tiers &tiers, const std::string &job)
{
    const auto newest = tiers.newest_committed(job);
    if (!newest) {
        return std::nullopt;
    }
    const auto &variables = newest->manifest->launch.environment;
    const auto found = variables.find(command_variable);
    return found != variables.end() ? found->second : "";
}

/* The name of the command in a batch job: one under which it has a checkpoint, else the
 * first that no other command has taken. */
std::string name_in_batch_job(const std::string &base, const std::string &identity,
                              const Tiers &tiers)
{
    std::string free;
    std::string name = base;
    for (int number = 2;; number++) {
        const auto owner = identity_of(tiers, name);
        if (owner == identity) {
            return name;
        }
        if (!owner && free.empty() && !tiers.is_live(name)) {
            free = name;
        }
        if (!owner && !tiers.job_state(name)) {
            return free;
        }
        name = fmt::format("{}.{}", base, number);
    }
}

} // namespace

std::string command_identity(const Words &command)
{
    return control::namespace_hash(shell_words(command));
}

std::string default_job_name(const Words &command, const Scheduler &scheduler,
                             const TierDirectories &directories)
{
    const std::string program = program_part(command);
    if (scheduler.job.empty()) {
        return fmt::format("{}-{}", program, getpid());
    }
    const std::string base = fmt::format("{}-{}", program, scheduler.job);
    const auto tiers = Tiers::open(directories);
    return tiers ? name_in_batch_job(base, command_identity(command), *tiers) : base;
}

} // namespace ckpt::cli
