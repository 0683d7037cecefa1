/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jobs.cpp - asks the agents of this host which jobs they serve.
 */
#include "cli/jobs/jobs.hpp"

#include "cli/jobs/agent_client.hpp"
#include "cli/launchers/diagnosis.hpp"
#include "cli/jobs/run_requests.hpp"
#include "cli/jobs/own_status.hpp"
#include "cli/jobs/wait_notice.hpp"
#include "common/fd.hpp"
#include "common/host.hpp"
#include "common/pidfd.hpp"
#include "common/processes.hpp"
#include "image/store/job_owner.hpp"

#include "ckpt/wire.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <poll.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

constexpr const char *run_extension = ".run";

constexpr int status_timeout_ms = 5000;
constexpr auto look_again = std::chrono::milliseconds(20);

/* There is no such job yet, but it may appear in a moment. */
struct NotYet : CommandError {
    using CommandError::CommandError;
};

/* Whether one of the job's directories is among those given, by their names only. */
bool is_said_to_be_in(const control::Status &status, const TierDirectories &directories)
{
    return directories.name(status.directory) || directories.name(status.slow_directory);
}

/* The directories that the command names, under all their names. Accesses no directory of
 * another job: its file system may hang. */
class Place
{
  public:
    explicit Place(const TierDirectories &directories)
        : directories_(directories) {}

    /* Whether one of the job's directories is here. */
    bool has(const control::Status &status)
    {
        return is_said_to_be_in(status, directories_) ||
               (status.host == host_name() &&
                std::ranges::find_first_of(identities(), status.identities) !=
                    identities().end());
    }

  private:
    const std::vector<std::string> &identities()
    {
        if (!identities_) {
            const WaitNotice notice(directories_.text());
            identities_ = directories_.identities();
        }
        return *identities_;
    }

    const TierDirectories &directories_;
    std::optional<std::vector<std::string>> identities_; /* nothing: not needed yet */
};

/* Returns sockets of agents before sockets of `ckpt run`. */
std::vector<fs::path> in_order(std::vector<fs::path> sockets)
{
    std::ranges::stable_partition(sockets, [](const fs::path &socket) {
        return socket.extension() != run_extension;
    });
    return sockets;
}

std::vector<fs::path> known_sockets(const TierDirectories &directories)
{
    const WaitNotice notice(directories.text());
    auto listed = control::control_sockets();
    std::set<fs::path> sockets(listed.begin(), listed.end());
    if (auto tiers = Tiers::open(directories)) {
        for (const std::string &name : tiers->jobs()) {
            auto state = tiers->job_state(name);
            if (state && state->state == "running" &&
                state->host == host_name() && !state->agent_socket.empty()) {
                sockets.insert(
                    fs::path(state->agent_socket).replace_extension(".ctl"));
            }
        }
    }
    return in_order({sockets.begin(), sockets.end()});
}

/* Whether the socket belongs to the `ckpt run` of a job whose coordinator is on this host and
 * has answered itself. */
bool is_known(const std::vector<RunningJob> &jobs, const fs::path &socket)
{
    return std::ranges::any_of(jobs, [&](const RunningJob &job) {
        const control::Status &status = job.status;
        return status.coordinator &&
               run_socket({status.directory, status.slow_directory}, status.job) == socket;
    });
}

/* Whether the status is from `ckpt run` for a starting job, and an agent of the job has already
 * answered, perhaps without the job's name. */
bool is_told_by_agent(const std::vector<RunningJob> &jobs, const control::Status &status)
{
    const TierDirectories own = {status.directory, status.slow_directory};
    return status.phase == control::starting && status.agent_pid == 0 &&
           std::ranges::any_of(jobs, [&](const RunningJob &job) {
               return is_said_to_be_in(job.status, own) &&
                      (job.status.job.empty() || job.status.job == status.job);
           });
}

/* Returns the status of the agent's job; nothing without a reply. */
std::optional<control::Status> ask_status(const fs::path &socket)
{
    control::Request request;
    request.command = "status";
    try {
        auto reply = ask_agent(socket, request, status_timeout_ms);
        if (reply && reply->event == "status") {
            return reply->status;
        }
    } catch (const AgentDied &) {
        /* the agent's job has just ended */
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: {}\n", problem.what());
    }
    return std::nullopt;
}

bool is_number(const std::string &word)
{
    return !word.empty() && word.size() < 10 &&
           word.find_first_not_of("0123456789") == word.npos;
}

/* Whether the process ids in the status are those of this host. They are not if `ckpt run`
 * passed the request on. */
bool is_local(const RunningJob &job)
{
    return job.socket.extension() != run_extension;
}

bool has_process(const control::Status &status, int pid)
{
    return status.launcher_pid == pid ||
           (is_alone(status) && parent_of(status.launcher_pid) == pid) ||
           std::any_of(status.ranks.begin(), status.ranks.end(),
                       [&](const auto &rank) { return rank.pid == pid; });
}

std::vector<RunningJob> matching(const std::vector<RunningJob> &jobs,
                                 const TierDirectories &directories,
                                 const std::string &word)
{
    std::vector<RunningJob> found;
    Place place(directories);
    for (const RunningJob &job : jobs) {
        const control::Status &status = job.status;
        if (word.empty() ? place.has(status)
                         : status.job == word ||
                               (is_number(word) && is_local(job) &&
                                has_process(status, std::stoi(word)))) {
            found.push_back(job);
        }
    }
    /* If several directories have a job of that name, prefers the given directory. */
    if (found.size() > 1) {
        auto elsewhere = [&](const RunningJob &job) {
            return !place.has(job.status);
        };
        if (!std::all_of(found.begin(), found.end(), elsewhere)) {
            std::erase_if(found, elsewhere);
        }
    }
    return found;
}

std::string names_of(const std::vector<RunningJob> &jobs)
{
    std::string names;
    for (const RunningJob &job : jobs) {
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ",
                             job.status.job, launcher_text(job.status));
    }
    return names;
}

/* Explains why no job of that name can be reached from here. */
[[noreturn]] void explain_name(const TierDirectories &directories,
                               const std::string &name)
{
    require_name_of_job(name);
    const WaitNotice notice(directories.text());
    auto tiers = Tiers::open(directories);
    auto state = tiers ? tiers->job_state(name) : std::nullopt;
    if (!state) {
        stop_with(exit_not_found, "no job {} in {}, nor running on this host",
                  name, directories.text());
    }
    if (state->state == "running" && state->host != host_name()) {
        stop_refused(CKPT_REFUSAL_JOB_ELSEWHERE, "job {} runs on {}: use ckpt there", name,
                     state->host);
    }
    std::string text = fmt::format("job {} is not running", name);
    if (state->state == "running" && is_running(state->launcher_pid)) {
        throw NotYet(exit_not_found, text);
    }
    throw CommandError(exit_not_found, text);
}

/* Returns the process of an agent whose launch is over, and which has not given up the job
 * yet. */
std::optional<pid_t> last_agent(const Tiers &tiers, const std::string &job)
{
    const auto owner = owner_of(tiers.records(job));
    const auto state = tiers.job_state(job);
    const auto pid = owner ? pid_here(owner->place) : std::nullopt;

    if (!pid || !state || state->agent_pid != *pid) {
        return std::nullopt; /* the owner is a new command, or a process on another node */
    }
    /* The agent yields at once to the `ckpt run` that started it. */
    const bool is_over = state->state == "running" ? !is_running(state->launcher_pid)
                                                   : !lives(owner->runner).value_or(false);
    return is_over ? pid : std::nullopt;
}

std::vector<RunningJob> jobs_at(const std::vector<fs::path> &sockets)
{
    std::vector<RunningJob> jobs;
    for (const fs::path &socket : sockets) {
        auto status = is_known(jobs, socket) ? std::nullopt : ask_status(socket);
        if (!status || is_told_by_agent(jobs, *status)) {
            continue;
        }
        auto twin = std::find_if(
            jobs.begin(), jobs.end(), [&](const RunningJob &job) {
                return job.status.launch_namespace == status->launch_namespace;
            });
        if (twin == jobs.end()) {
            jobs.push_back({socket, std::move(*status)});
        } else if (status->coordinator) {
            *twin = {socket, std::move(*status)};
        }
    }
    return jobs;
}

} // namespace

std::vector<RunningJob> jobs_said_to_run_in(const TierDirectories &directories)
{
    auto jobs = jobs_at(in_order(control::control_sockets()));

    std::erase_if(jobs, [&](const RunningJob &job) {
        return !is_said_to_be_in(job.status, directories);
    });
    return jobs;
}

namespace
{

/* Finds the job without access to the directories, whose file system may hang. Without a name,
 * the only job that reports one of the directories. */
std::optional<RunningJob> find_by_sockets(const TierDirectories &directories,
                                          const std::string &word)
{
    if (word.empty()) {
        auto jobs = jobs_said_to_run_in(directories);
        return jobs.size() == 1 ? std::optional(std::move(jobs[0])) : std::nullopt;
    }
    auto found = matching(jobs_at(in_order(control::control_sockets())), directories, word);
    if (found.size() == 1 && (is_number(word) || Place(directories).has(found[0].status))) {
        return std::move(found[0]);
    }
    return std::nullopt;
}

} // namespace

std::vector<RunningJob> running_jobs(const TierDirectories &directories)
{
    return jobs_at(known_sockets(directories));
}

std::vector<RunningJob> jobs_running_in(const TierDirectories &directories)
{
    return matching(running_jobs(directories), directories, "");
}

RunningJob find_job(const TierDirectories &directories, const std::string &word)
{
    if (auto job = find_by_sockets(directories, word)) {
        return std::move(*job);
    }
    auto all = running_jobs(directories);
    auto found = matching(all, directories, word);
    if (found.size() == 1) {
        return found[0];
    }
    if (found.size() > 1) {
        stop_with(exit_usage, "several jobs are running: {}; name one",
                  names_of(found));
    }
    if (is_number(word)) {
        Diagnosis why = why_no_agent(std::stoi(word));
        if (why.may_pass) {
            throw NotYet(why.status, why.text, why.identity);
        }
        throw CommandError(why.status, why.text, why.identity);
    }
    if (!word.empty()) {
        explain_name(directories, word);
    }
    std::string hint;
    if (!all.empty()) {
        hint = fmt::format("; running elsewhere: {}", names_of(all));
    }
    stop_with(exit_not_found, "no job is running in {}{}", directories.text(), hint);
}

RunningJob find_started_job(const TierDirectories &directories, const std::string &word,
                            int timeout_ms)
{
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::milliseconds(timeout_ms);
    for (;;) {
        const bool late = std::chrono::steady_clock::now() >= deadline;
        try {
            RunningJob job = find_job(directories, word);
            if (late || job.status.phase != control::starting) {
                return job;
            }
        } catch (const NotYet &) {
            if (late) {
                throw;
            }
        }
        std::this_thread::sleep_for(look_again);
    }
}

bool is_alone(const control::Status &status)
{
    return status.launch_namespace.starts_with(CKPT_LAUNCH_ALONE);
}

std::string launcher_text(const control::Status &status)
{
    return fmt::format("{} {}",
                       is_swapped_out(status) ? "ckpt run"
                       : is_alone(status)     ? "process"
                                              : "mpirun",
                       status.launcher_pid);
}

void wait_for_last_agent(const Tiers &tiers, const std::string &job,
                         int timeout_ms)
{
    using std::chrono::steady_clock;
    /* Polls, because the agent may give up the job before it ends. */
    constexpr int turn_ms = 20;
    const auto until = steady_clock::now() + std::chrono::milliseconds(timeout_ms);

    while (steady_clock::now() < until) {
        const auto pid = last_agent(tiers, job);
        const Fd agent = pid ? open_pidfd(*pid) : Fd();
        if (!agent) {
            return;
        }
        pollfd ended = {agent.get(), POLLIN, 0};
        poll(&ended, 1, turn_ms);
    }
}

void wait_for_end_of_agent(const Tiers &tiers, const std::string &job, int timeout_ms)
{
    const auto state = tiers.job_state(job);

    if (!state || state->host != host_name() || process_name(state->agent_pid) != "ckptd") {
        return;
    }
    if (const Fd agent = open_pidfd(static_cast<pid_t>(state->agent_pid))) {
        pollfd ended = {agent.get(), POLLIN, 0};
        poll(&ended, 1, timeout_ms);
    }
}

} // namespace ckpt::cli
