/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_name.cpp - derives job names from the program and the batch job.
 */
#include "cli/run/job_name.hpp"

#include "agent/control/control.hpp"
#include "cli/launchers/launch_line.hpp"
#include "cli/run/run_line.hpp"
#include "common/files/files.hpp"
#include "image/store/job_directory.hpp"

#include <fmt/core.h>

#include <cctype>
#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
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
        program = command[0]; /* a launcher with unknown options */
    }
    std::string name = std::filesystem::path(program).filename();
    for (char &c : name) {
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    return name.substr(0, longest_program);
}

/* Returns the identity of the command that made the job's newest checkpoint. */
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

/* Returns nothing if another command holds the lock. */
std::optional<Fd> lock_name(const Store &store, const std::string &name)
{
    const std::filesystem::path directory = store.directory() / name;
    make_job_directory(directory);
    Fd file(open((directory / "run.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) {
        fail_errno(errno, "cannot make a file in {}", directory.string());
    }
    if (flock(file.get(), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        return std::nullopt;
    }
    return file; /* some file systems do not support locks */
}

std::string numbered(const std::string &base, int number)
{
    return number == 1 ? base : fmt::format("{}.{}", base, number);
}

/* Returns a name under which the command has a checkpoint, else a free name. */
JobName name_in_batch_job(const std::string &base, const std::string &identity,
                          const TierDirectories &directories)
{
    const Store store = Store::create(directories.fast);
    const auto tiers = Tiers::open(directories);
    auto is_used = [&](const std::string &name) {
        return std::filesystem::exists(store.directory() / name) || tiers->job_state(name);
    };
    for (int number = 1; is_used(numbered(base, number)); number++) {
        const std::string name = numbered(base, number);
        if (identity_of(*tiers, name) == identity) {
            if (auto lock = lock_name(store, name)) {
                return {name, std::move(*lock)};
            }
        }
    }
    for (int number = 1;; number++) {
        const std::string name = numbered(base, number);
        if (!identity_of(*tiers, name) && !tiers->is_live(name)) {
            if (auto lock = lock_name(store, name)) {
                return {name, std::move(*lock)};
            }
        }
    }
}

} // namespace

std::string command_identity(const Words &command)
{
    return control::namespace_hash(shell_words(command));
}

JobName default_job_name(const Words &command, const Scheduler &scheduler,
                         const TierDirectories &directories)
{
    const std::string program = program_part(command);
    if (scheduler.job.empty()) {
        return {fmt::format("{}-{}", program, getpid()), Fd()};
    }
    const std::string base = fmt::format("{}-{}", program, scheduler.job);
    try {
        return name_in_batch_job(base, command_identity(command), directories);
    } catch (const Error &) {
        /* The directory is unusable, so it has no checkpoints to confuse. */
        return {base, Fd()};
    }
}

} // namespace ckpt::cli
