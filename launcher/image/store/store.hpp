/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.hpp - the checkpoint directory: jobs, checkpoints, and their state.
 *
 * DIR/JOB/NUMBER/{node-HOST.h5, manifest.json} and DIR/JOB/job.json. The files do not depend
 * on the path of DIR, so it can be moved or copied.
 */
#pragma once

#include "image/store/checkpoint_files.hpp"
#include "image/store/manifest.hpp"

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

/* The content of DIR/JOB/job.json, written by the first agent of a job. */
struct JobState {
    std::string name;
    /* "running"; "ended"; or, if ranks ended without finishing, "interrupted" (on request)
     * or "failed". */
    std::string state;
    std::string host;              /* of the launcher and the coordinating agent */
    std::int64_t launcher_pid = 0; /* of mpirun; without a launcher, of the program */
    std::int64_t agent_pid = 0;
    std::string agent_socket;
    std::int64_t started = 0; /* of this launch, ns since the epoch of 1970 */
    double seconds = 0;       /* run time so far, summed over all launches */
    unsigned failures = 0;    /* failed launches, and recoveries in place */
};

struct Checkpoint {
    enum class State {
        committed,
        incomplete, /* no manifest: in progress or abandoned */
        damaged,    /* has a manifest, but its content is wrong: `reason` */
        unreadable, /* has a manifest, but its state cannot be determined: `reason` */
    };

    std::string job;
    std::uint64_t number = 0;
    std::filesystem::path directory;
    State state = State::incomplete;
    std::string reason;               /* damaged, unreadable: the defect */
    std::optional<Manifest> manifest; /* if committed */
    /* The pieces are in the directory of this name on the nodes that wrote them. `state`
     * follows from the record (image/store/node_record.hpp). */
    bool is_on_nodes = false;

    std::string name() const; /* "JOB/NUMBER" */
    /* Whether the checkpoint has a manifest but cannot be used. */
    bool is_useless() const { return state == State::damaged || state == State::unreadable; }
};

class Store
{
  public:
    /* Numbers of the checkpoints that a restart is reading, by job. */
    using InUse = std::map<std::string, std::uint64_t>;

    /* Opens the directory; it must exist and belong to this user. */
    explicit Store(std::filesystem::path directory);
    /* The same, but first creates a missing directory (mode 0700). */
    static Store create(std::filesystem::path directory);

    const std::filesystem::path &directory() const { return directory_; }
    /* Returns identity_of() the directory when it was opened. */
    const std::string &identity() const { return identity_; }

    /* Return the names of all jobs, sorted, and the state of a job; nothing if job.json is
     * missing. */
    std::vector<std::string> jobs() const;
    std::optional<JobState> job_state(const std::string &job) const;
    void write_job_state(const JobState &state) const;
    /* Returns false only if it is certain that no process works on the job any more. */
    bool is_live(const std::string &job) const;

    /* begin_checkpoint() creates and returns the directory of a new checkpoint; the number
     * must be new. next_number() is larger than every number used before. */
    std::uint64_t next_number(const std::string &job) const;
    std::filesystem::path begin_checkpoint(const std::string &job,
                                           std::uint64_t number) const;

    std::filesystem::path directory_of(const std::string &job, std::uint64_t number) const;

    /* Returns all checkpoints of a job by ascending number. A committed checkpoint has all its
     * pieces with the right sizes; their content is not checked. */
    std::vector<Checkpoint> checkpoints(const std::string &job) const;
    std::optional<Checkpoint> newest_committed(const std::string &job) const;
    std::optional<Checkpoint> newest_committed() const;

    /* Resolves a user's argument: "JOB/NUMBER", "JOB" (its newest committed checkpoint), the
     * path of a checkpoint or of a job's directory, or "" (the newest of all). Throws Error
     * unless it is a committed checkpoint, with code ENOENT if nothing has that name. */
    Checkpoint resolve(const std::string &word) const;

    /* Deletes a checkpoint (image/store/checkpoint_files.hpp). Returns the names of foreign files
     * in its directory, which stay. Only for a directory that ckpt has created
     * (image/store/job_directory.hpp). */
    std::vector<std::string> remove(const Checkpoint &checkpoint) const;
    std::vector<std::string> remove(const std::string &job, std::uint64_t number) const;

    /* Returns directories that look like those of jobs or checkpoints, but that ckpt has not
     * created. */
    std::vector<std::string> foreign_directories() const;

    /* Returns the removable checkpoints of all jobs, or of one job. The `keep` (at least 1)
     * newest committed checkpoints of each job stay. Removable are older checkpoints, damaged
     * ones below a committed one, and incomplete ones without a process that works on them.
     * Everything older than an unreadable checkpoint stays, because that may build on it.
     * Symbolic links, directories that ckpt has not created, and checkpoints in use stay as
     * well. */
    struct Garbage {
        std::vector<Checkpoint> checkpoints;
        std::vector<Checkpoint> unreadable; /* older checkpoints stay as well */
    };
    Garbage garbage(std::size_t keep, const std::string &job = "",
                    const InUse &in_use = {}) const;
    /* Removes the garbage. Returns the removed checkpoints. */
    std::vector<Checkpoint> collect_garbage(std::size_t keep,
                                            const std::string &job = "") const;

    /* Removes all checkpoints with numbers below `end`, complete or not, except those in
     * `stay`. */
    void discard(const std::string &job, std::uint64_t end,
                 const std::set<std::uint64_t> &stay) const;

  private:
    std::vector<std::uint64_t> numbers(const std::string &job) const;
    Checkpoint resolve_in_job(const std::string &job,
                              std::string_view rest) const;

    std::filesystem::path directory_;
    std::string identity_;
};

/* Returns why a piece is not complete in the directory of its checkpoint, judged by its size,
 * or why that cannot be determined; empty if it is complete. */
std::string damage_of(const Piece &piece, const std::filesystem::path &directory);

/* Throws Error unless `name` is a valid job name: 1 to 200 characters of letters, digits and
 * "._-", not starting with a dot. */
void require_job_name(const std::string &name);

} // namespace ckpt
