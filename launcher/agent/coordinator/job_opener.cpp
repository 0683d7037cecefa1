/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_opener.cpp - takes over the directories of a job that begins.
 */
#include "agent/coordinator/job_opener.hpp"

#include "agent/base/log.hpp"
#include "agent/coordinator/node_level.hpp"
#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/node_record.hpp"
#include "journal/journal.hpp"
#include "journal/place.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ckpt
{

namespace
{

/* Returns the newest checkpoint that a salvage has made. */
control::Salvage last_salvage(const std::vector<Checkpoint> &checkpoints)
{
    control::Salvage last;

    for (const Checkpoint &checkpoint : checkpoints) {
        if (checkpoint.manifest && !checkpoint.manifest->replayed.empty() &&
            checkpoint.number >= last.number) {
            last = {checkpoint.number,
                    checkpoint.manifest->replayed.front(),
                    static_cast<double>(checkpoint.manifest->created) * 1e-9,
                    {}};
        }
    }
    return last;
}

} // namespace

JobOpener::JobOpener(const Settings &settings, pid_t launcher)
    : settings_(settings), launcher_(launcher), started_(now_nanoseconds())
{
}

OpenedJob JobOpener::open(const std::string &name) const
{
    OpenedJob job{.name = name, .store = Store::create(settings_.directory)};

    take(job);
    for (const Checkpoint &checkpoint : job.store.checkpoints(job.name)) {
        if (is_leftover(checkpoint)) {
            job.store.remove(checkpoint); /* left by an agent that died */
        }
    }
    open_slow(job);
    const auto last = job.store.job_state(job.name);
    /* The agent of a failed launch leaves the state "running" or "failed". */
    const bool is_this = last && last->agent_socket == rank_socket();
    if (last && (!settings_.restart_job.empty() || is_this)) {
        const bool has_failed =
            !is_this && last->state != "ended" && last->state != control::interrupted;
        job.earlier = {last->seconds, last->failures + (has_failed ? 1 : 0)};
    }
    job.salvaged = last_salvage(job.store.checkpoints(job.name));
    job.ownership->require_ours();
    job.store.write_job_state(state(job.name, job.earlier.value_or(JobHistory{}), "running"));
    open_log(job.store.directory() / job.name, settings_.host);
    return job;
}

/* If another running job has this name, a new job gets a different one. */
void JobOpener::take(OpenedJob &job) const
{
    try {
        job.ownership = own(job.name);
    } catch (const Error &error) {
        if (error.code() != EBUSY || !settings_.restart_job.empty()) {
            throw;
        }
        job.name += "-" + std::to_string(getpid());
        job.ownership = own(job.name);
    }
    CKPT_INVARIANT(job.ownership != nullptr);
}

std::shared_ptr<JobOwnership> JobOpener::own(const std::string &job) const
{
    const std::filesystem::path directory = lasting_directory() / job;

    make_job_directory(directory);
    return std::make_shared<JobOwnership>(
        directory,
        JobOwnership::As{.token = settings_.owner_token,
                         .keeps_lock = true,
                         .launcher = launcher_ > 0 ? process_identity(launcher_) : std::string()},
        JobOwnership::Take::ask);
}

/* The slow directory must exist when the job begins, so that no number is used twice. */
void JobOpener::open_slow(OpenedJob &job) const
{
    if (settings_.slow_directory.empty()) {
        return;
    }
    job.slow = Store::create(settings_.slow_directory);
    job.least_number = job.slow->next_number(job.name);
    if (const auto noted = NodeRecord::numbers(records(job.name)); !noted.empty()) {
        job.least_number = std::max(job.least_number, noted.back() + 1);
    }
    job.redundant = newest_protected(records(job.name));
}

OpenedJournal JobOpener::open_journal(const std::string &job) const
{
    try {
        OpenedJournal opened{journal::provide_in(lasting_directory() / job)};
        opened.greatest_mark =
            journal::Journal::read(opened.directory, journal::Depth::headers).greatest_mark();
        return opened;
    } catch (const std::exception &error) {
        spdlog::warn("files will not roll back to this checkpoint: {}", error.what());
        return {};
    }
}

bool JobOpener::is_leftover(const Checkpoint &checkpoint) const
{
    return checkpoint.state == Checkpoint::State::incomplete &&
           (settings_.slow_directory.empty() ||
            !std::ranges::binary_search(NodeRecord::numbers(records(checkpoint.job)),
                                        checkpoint.number));
}

JobHistory JobOpener::history(const JobHistory &earlier) const
{
    const auto here = static_cast<double>(now_nanoseconds() - started_) * 1e-9;

    return {earlier.seconds + here, earlier.failures};
}

JobState JobOpener::state(const std::string &job, const JobHistory &earlier,
                          const char *text) const
{
    const JobHistory all = history(earlier);
    JobState state;

    state.name = job;
    state.state = text;
    state.host = settings_.host;
    state.launcher_pid = launcher_;
    state.agent_pid = getpid();
    state.agent_socket = rank_socket();
    state.started = started_;
    state.seconds = all.seconds;
    state.failures = all.failures;
    return state;
}

const std::filesystem::path &JobOpener::lasting_directory() const
{
    return settings_.slow_directory.empty() ? settings_.directory : settings_.slow_directory;
}

std::string JobOpener::directories() const
{
    return settings_.slow_directory.empty()
               ? settings_.directory.string()
               : fmt::format("{} or of {}", settings_.directory.string(),
                             settings_.slow_directory.string());
}

std::string JobOpener::rank_socket() const
{
    return settings_.run_directory /
           (control::namespace_hash(settings_.launch_namespace) + ".sock");
}

} // namespace ckpt
