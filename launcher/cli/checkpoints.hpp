/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoints.hpp - find the checkpoint that a user means, and show it.
 */
#pragma once

#include "cli/command.hpp"
#include "image/piece_chain.hpp"
#include "image/tiers.hpp"
#include "journal/rollback.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace ckpt::cli
{

/* What --dir means: TierDirectories::parse(); CommandError(exit_usage) if nothing. */
TierDirectories directories_of(const std::string &option);

/* CommandError(exit_usage) if no job can have that name; "" stands for all jobs. */
void require_name_of_job(const std::string &word);

/* --files, with the value in `how`. */
void add_files_option(CLI::App &app, std::string &how);

/* The same for `ckpt run`, which can conceal files, too. */
void add_run_files_option(CLI::App &app, std::string &how);

/* Those that are there; CommandError(exit_not_found) if none is. */
Tiers require_tiers(const TierDirectories &directories);

struct FoundCheckpoint {
    Checkpoint checkpoint;
    TierDirectories directories; /* in which its job goes on */
    bool is_newest; /* of its job: no other was asked for */
};

/*
 * The committed checkpoint `word` means: JOB/NUMBER or JOB (its newest) in
 * the directories, a path, or, if empty, the newest of all in them. One
 * that is given by its path belongs to the store around it, if there is one.
 * Throws CommandError(exit_not_found) if there is none of that name, Error if
 * there is one that cannot be used.
 */
FoundCheckpoint find_checkpoint(const TierDirectories &directories,
                                const std::string &word);

/* The same for a command that looks into the files: not one that lies on nodes. */
Checkpoint find_checkpoint_here(const TierDirectories &directories, const std::string &word);

/* How much of a checkpoint is read before it is used. */
enum class Verification {
    none,  /* manifest and sizes; what find_checkpoint() does */
    quick, /* also all but the saved memory */
    full,  /* everything */
};

/*
 * Throws Error that names file, rank, region and chunk of the first damage.
 * progress: gets bytes read so far and in all.
 */
void verify_checkpoint(
    const Checkpoint &checkpoint, Verification how,
    const std::function<void(std::uint64_t, std::uint64_t)> &progress = {});

/* What is known of checkpoints before they are looked at. */
struct Prospects {
    std::uint64_t above = 0;                /* numbers up to this one are not wanted */
    std::set<std::uint64_t> not_on_nodes{}; /* those of which too much was lost */
    std::set<std::string> lost_nodes{};
    std::set<std::uint64_t> not_replayed{}; /* those of which the replay has failed */
    journal::Files files = journal::Files::ignore; /* those to which files do not go back are
                                                      not wanted */
};

/*
 * The newest checkpoint of the job that can be used as far as `how` tells; those that cannot
 * are named on stderr. Of those on the nodes only what is noted is looked at. Nothing if
 * there is none. Throws Error, the reason of the newest, if there are only such.
 */
std::optional<Checkpoint> newest_usable(
    const TierDirectories &directories, const std::string &job, const Prospects &prospects,
    Verification how,
    const std::function<void(std::uint64_t, std::uint64_t)> &progress = {});

/* Whether a checkpoint of the job that is wanted is there but for damage: those that were in
 * the memory of nodes, and of which too much was lost with them, are not. */
bool has_damaged(const TierDirectories &directories, const std::string &job,
                 const Prospects &prospects);

/* "committed", "incomplete" or "damaged". */
const char *state_name(Checkpoint::State state);

/* Refuses what is the directory of a job, in which its checkpoints are (exit_not_found). */
void require_no_job_directory(const std::filesystem::path &path);

} // namespace ckpt::cli
