/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_opener.hpp - takes over the directories of a job that begins: its name, its owner, and what
 * earlier launches have left there. Part of the coordinator.
 *
 * All this asks file systems, which may hang: it is for a thread that nobody waits for. An object
 * does not change, so several threads may use it.
 */
#pragma once

#include "agent/control.hpp"
#include "agent/settings.hpp"
#include "image/job_owner.hpp"
#include "image/store.hpp"
#include "protocol/checkpoint_interval.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace ckpt
{

/* What the coordinator has of a job's directories from then on. */
struct OpenedJob {
    std::string name; /* another one than was asked for, if a running job has that */
    Store store;
    std::shared_ptr<JobOwnership> ownership = {};
    std::optional<Store> slow = {};
    std::uint64_t least_number = 1; /* that no checkpoint has had */
    std::uint64_t redundant = 0;    /* newest_protected() in the slow directory; 0: none is */
    std::optional<JobHistory> earlier = {}; /* launches; nothing: this is the first one */
    control::Salvage salvaged = {};         /* the last one, by the manifests */
};

/* The file journal of a job. */
struct OpenedJournal {
    std::filesystem::path directory; /* empty: it cannot be made or read */
    std::uint64_t greatest_mark = 0; /* in it */
};

class JobOpener
{
  public:
    /* settings must live longer. launcher: its process; 0: not on this node. */
    JobOpener(const Settings &settings, pid_t launcher);

    /* Takes the job, removes what an agent that died has left, writes job.json, and opens the
     * log. Throws Error; then this process does not own the job. */
    OpenedJob open(const std::string &name) const;

    /* Of a job that is open. Says in the log why there is none. */
    OpenedJournal open_journal(const std::string &job) const;

    /* Whether this unfinished directory holds no part of a checkpoint on nodes either. */
    bool is_leftover(const Checkpoint &checkpoint) const;

    /* Of a job that began earlier with these launches; ns since 1970. */
    std::int64_t started() const { return started_; }
    JobHistory history(const JobHistory &earlier) const;
    /* For job.json. state: as there. */
    JobState state(const std::string &job, const JobHistory &earlier, const char *state) const;

    /* The directory that all launches see. */
    const std::filesystem::path &lasting_directory() const;
    /* Where notes of checkpoints on the nodes are. */
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
