/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_opener.hpp - takes over the directories of a job that begins: its name, its ownership, and
 * what earlier launches have left there. Part of the coordinator.
 *
 * All functions access file systems, which may hang. So they belong on a thread that no other
 * thread waits for. An object is constant, so several threads may use it.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/base/settings.hpp"
#include "image/store/job_owner.hpp"
#include "image/store/store.hpp"
#include "protocol/checkpoint_interval.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace ckpt
{

/* The coordinator's view of a job's directories. */
struct OpenedJob {
    std::string name; /* differs from the requested name if a running job has that name */
    Store store;
    std::shared_ptr<JobOwnership> ownership = {};
    std::optional<Store> slow = {};
    std::uint64_t least_number = 1;         /* lowest number that no checkpoint has used */
    std::uint64_t redundant = 0;            /* newest_protected() in the slow directory; 0: none */
    std::optional<JobHistory> earlier = {}; /* earlier launches; nothing: this is the first one */
    control::Salvage salvaged = {};         /* the newest salvage in the manifests */
};

/* The file journal of a job. */
struct OpenedJournal {
    std::filesystem::path directory; /* empty: the journal cannot be made or read */
    std::uint64_t greatest_mark = 0; /* the greatest mark in the journal */
};

class JobOpener
{
  public:
    /* settings must live longer. launcher: its process id; 0: not on this node. */
    JobOpener(const Settings &settings, pid_t launcher);

    /* Takes the job, removes the leftovers of an agent that died, writes job.json, and opens the
     * log. Throws Error; then this process does not own the job. */
    OpenedJob open(const std::string &name) const;

    /* For a job that is open. The log reports a failure. */
    OpenedJournal open_journal(const std::string &job) const;

    /* Whether this unfinished directory is not part of a checkpoint on the nodes either. */
    bool is_leftover(const Checkpoint &checkpoint) const;

    /* When this launch opened the job; ns since 1970. history(): adds this launch to earlier
     * ones. */
    std::int64_t started() const { return started_; }
    JobHistory history(const JobHistory &earlier) const;
    /* Returns the content of job.json. state: its field of that name. */
    JobState state(const std::string &job, const JobHistory &earlier, const char *state) const;

    /* Returns the directory that all launches see. */
    const std::filesystem::path &lasting_directory() const;
    /* Returns the directory with the records of checkpoints on the nodes. */
    std::filesystem::path records(const std::string &job) const
    {
        return settings_.slow_directory / job;
    }
    /* For messages: "DIR", or "FAST or of SLOW". */
    std::string directories() const;

  private:
    void take(OpenedJob &job) const;
    std::shared_ptr<JobOwnership> own(const std::string &job) const;
    void open_slow(OpenedJob &job) const;
    std::string rank_socket() const;

    const Settings &settings_;
    const pid_t launcher_;
    const std::int64_t started_;
};

} // namespace ckpt
