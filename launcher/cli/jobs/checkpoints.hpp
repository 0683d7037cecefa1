/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoints.hpp - finds the checkpoint that a user names, verifies it, and describes it.
 */
#pragma once

#include "cli/base/command.hpp"
#include "image/store/piece_chain.hpp"
#include "image/store/tiers.hpp"
#include "journal/rollback.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace ckpt::cli
{

/* Parses --dir with TierDirectories::parse(). Throws CommandError(exit_usage) if it is
 * invalid. */
TierDirectories directories_of(const std::string &option);

/* Throws CommandError(exit_usage) if `word` is not a valid job name; "" stands for all
 * jobs. */
void require_name_of_job(const std::string &word);

/* Returns the directories that exist; throws CommandError(exit_not_found) if none exists. */
Tiers require_tiers(const TierDirectories &directories);

struct FoundCheckpoint {
    Checkpoint checkpoint;
    TierDirectories directories; /* in which its job continues */
    /* newest of its job; the user has not asked for a particular one */
    bool is_newest;
};

/*
 * Returns the committed checkpoint that `word` names: JOB/NUMBER or JOB (its newest) in the
 * directories, a path, or, if empty, the newest in the directories. A checkpoint given by
 * its path belongs to the store around it, if there is a store. Throws
 * CommandError(exit_not_found) if nothing has that name, and Error if the checkpoint is
 * unusable.
 */
FoundCheckpoint find_checkpoint(const TierDirectories &directories,
                                const std::string &word);

/* The same for a command that reads the files of the checkpoint. Throws if its pieces are on
 * the nodes. */
Checkpoint find_checkpoint_here(const TierDirectories &directories, const std::string &word);

/* How much of a checkpoint is verified before it is used. */
enum class Verification {
    none,  /* manifest and file sizes, as in find_checkpoint() */
    quick, /* also everything except the saved memory */
    full,  /* everything */
};

/*
 * Throws Error naming file, rank, region and chunk of the first damage. Calls `progress`
 * with the bytes read so far and the total.
 */
void verify_checkpoint(
    const Checkpoint &checkpoint, Verification how,
    const std::function<void(std::uint64_t, std::uint64_t)> &progress = {});

/* Known facts that exclude checkpoints before they are read. */
struct Prospects {
    std::uint64_t above = 0;                /* ignore numbers up to this one */
    std::set<std::uint64_t> not_on_nodes{}; /* the nodes have lost too much */
    std::set<std::string> lost_nodes{};
    std::set<std::uint64_t> not_replayed{}; /* checkpoints from which a replay has failed */
    /* Excludes checkpoints to which the files cannot be rolled back. */
    journal::Files files = journal::Files::ignore;
};

/*
 * Returns the newest checkpoint of the job that is usable as far as `how` tells. Names
 * unusable ones on stderr. For checkpoints on the nodes only the record is read. Returns
 * nothing if the job has no checkpoint. Throws the Error of the newest checkpoint if all are
 * unusable.
 */
std::optional<Checkpoint> newest_usable(
    const TierDirectories &directories, const std::string &job, const Prospects &prospects,
    Verification how,
    const std::function<void(std::uint64_t, std::uint64_t)> &progress = {});

/* Whether damage makes a checkpoint of the job unusable. Checkpoints that were lost with the
 * memory of nodes do not count. */
bool has_damaged(const TierDirectories &directories, const std::string &job,
                 const Prospects &prospects);

/* Returns "committed", "incomplete", "damaged" or "unreadable". */
const char *state_name(Checkpoint::State state);

/* Throws CommandError(exit_not_found) if `path` is the directory of a job, which contains
 * its checkpoints. */
void require_no_job_directory(const std::filesystem::path &path);

} // namespace ckpt::cli
