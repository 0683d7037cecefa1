/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.hpp - the checkpoint directory: jobs, checkpoints, which are whole.
 *
 * DIR/JOB/NUMBER/{node-HOST.h5, manifest.json} and DIR/JOB/job.json. Nothing
 * stored depends on where DIR is, so it can be moved or copied.
 */
#pragma once

#include "image/checkpoint_files.hpp"
#include "image/manifest.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

/* What the first agent of a job writes about it, in DIR/JOB/job.json. */
struct JobState {
    std::string name;
    std::string state; /* "running", "ended", or, when ranks have gone that had not
                          finished, "interrupted" (it was asked for) or "failed" */
    std::string host;  /* where launcher and coordinating agent run */
    std::int64_t launcher_pid = 0; /* mpirun's; the program's own without one */
    std::int64_t agent_pid = 0;
    std::string agent_socket;
    std::int64_t started = 0; /* ns since 1970; this launch */
    double seconds = 0;       /* that it has run for, all launches together */
    unsigned failures = 0;    /* of earlier launches */
};

struct Checkpoint {
    enum class State {
        committed,
        incomplete, /* no manifest: in progress, or given up */
        damaged,    /* has a manifest, but `reason`, which its content proves */
        unreadable, /* has a manifest; whether it is whole cannot be told: `reason` */
    };

    std::string job;
    std::uint64_t number = 0;
    std::filesystem::path directory;
    State state = State::incomplete;
    std::string reason;               /* damaged, unreadable: what is wrong */
    std::optional<Manifest> manifest; /* committed only */
    /* The pieces are on the nodes that have written them, in the directory of this name
     * there: whole as far as is known here (image/node_record.hpp). */
    bool is_on_nodes = false;

    std::string name() const; /* "JOB/NUMBER" */
    /* It has a manifest, and cannot be used. */
    bool is_useless() const { return state == State::damaged || state == State::unreadable; }
};

class Store
{
  public:
    /* Checkpoints of jobs that a restart reads. */
    using InUse = std::map<std::string, std::uint64_t>;

    /* Opens the directory; it must exist and belong to us. */
    explicit Store(std::filesystem::path directory);
    /* The same, but makes it first (mode 0700) if it is not there. */
    static Store create(std::filesystem::path directory);

    const std::filesystem::path &directory() const { return directory_; }

    /* Names of all jobs, in order. A missing job.json gives no state. */
    std::vector<std::string> jobs() const;
    std::optional<JobState> job_state(const std::string &job) const;
    void write_job_state(const JobState &state) const;
    /* False only if it is sure that nobody works on the job any more. */
    bool is_live(const std::string &job) const;

    /* Makes the directory of a new checkpoint and returns it; the number must
     * be new. next_number() is above every number ever used. */
    std::uint64_t next_number(const std::string &job) const;
    std::filesystem::path begin_checkpoint(const std::string &job,
                                           std::uint64_t number) const;

    std::filesystem::path directory_of(const std::string &job, std::uint64_t number) const;

    /* All checkpoints of a job by rising number. A committed one has all its
     * pieces with the right sizes; their content is not read. */
    std::vector<Checkpoint> checkpoints(const std::string &job) const;
    std::optional<Checkpoint> newest_committed(const std::string &job) const;
    std::optional<Checkpoint> newest_committed() const;

    /* What a user's word means: "JOB/NUMBER", "JOB" (its newest committed
     * one), a path of a checkpoint or of a job's directory, or nothing (the
     * newest of all). Throws Error unless it is a committed checkpoint, of
     * code ENOENT if there is nothing of that name. */
    Checkpoint resolve(const std::string &word) const;

    /* Deletes a checkpoint (image/checkpoint_files.hpp), and returns the names of what is
     * not ours in its directory and stays. Only of a directory that ckpt has made
     * (image/job_directory.hpp). */
    std::vector<std::string> remove(const Checkpoint &checkpoint) const;
    std::vector<std::string> remove(const std::string &job, std::uint64_t number) const;

    /* Those that look like a job's or a checkpoint's, and that ckpt has not made. */
    std::vector<std::string> foreign_directories() const;

    /* What can go if the `keep` (at least 1) newest committed checkpoints of
     * each job (of one job, if named) stay: older ones, damaged ones that are older
     * than a committed one, and incomplete ones nobody works on. Nothing that is older than
     * one that cannot be read, which may be made on top of it; nothing of a directory
     * that ckpt has not made, nor a link; nothing that is in use. */
    struct Garbage {
        std::vector<Checkpoint> checkpoints;
        std::vector<Checkpoint> unreadable; /* with what is older they stay */
    };
    Garbage garbage(std::size_t keep, const std::string &job = "",
                    const InUse &in_use = {}) const;
    /* Removes it. Returns what was removed. */
    std::vector<Checkpoint> collect_garbage(std::size_t keep,
                                            const std::string &job = "") const;

    /* Removes all with numbers below `end` but those that stay, whole or not. */
    void discard(const std::string &job, std::uint64_t end,
                 const std::set<std::uint64_t> &stay) const;

  private:
    std::vector<std::uint64_t> numbers(const std::string &job) const;
    Checkpoint resolve_in_job(const std::string &job,
                              std::string_view rest) const;

    std::filesystem::path directory_;
};

/* Why a piece is not whole in the directory of its checkpoint, by its size, or why that cannot
 * be told; empty if it is. */
std::string damage_of(const Piece &piece, const std::filesystem::path &directory);

/* Throws Error unless `name` can be a job's name: 1 to 200 characters of
 * letters, digits and "._-", not starting with a dot. */
void require_job_name(const std::string &name);

} // namespace ckpt
