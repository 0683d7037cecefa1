/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoints.cpp - finds the checkpoint that a user names, and verifies it.
 */
#include "cli/jobs/checkpoints.hpp"

#include "cli/files/file_rollback.hpp"
#include "cli/base/options.hpp"
#include "cli/jobs/wait_notice.hpp"
#include "common/invariant.hpp"
#include "gather/gather_plan.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/node_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <vector>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

/* Whether the word is a path, and not the name of an entry in the directories. */
bool is_path(const TierDirectories &directories, const std::string &word)
{
    auto is_name_in = [&](const fs::path &directory) {
        return !directory.empty() && fs::exists(directory / word);
    };
    return !word.empty() && fs::is_directory(word) &&
           (fs::path(word).is_absolute() ||
            (!is_name_in(directories.fast) && !is_name_in(directories.slow)));
}

bool may_survive(const Tiers &tiers, const Checkpoint &checkpoint,
                 const Prospects &prospects)
{
    const NodeRecord record =
        NodeRecord::load(tiers.records(checkpoint.job), checkpoint.number);

    return gather::may_survive(record, prospects.lost_nodes);
}

/* Throws if it is already known that the nodes cannot provide the checkpoint. Otherwise the
 * nodes decide when they gather it. */
void require_prospect(const Tiers &tiers, const Checkpoint &checkpoint,
                      const Prospects &prospects)
{
    if (prospects.not_on_nodes.contains(checkpoint.number)) {
        refuse(CKPT_REFUSAL_UNUSABLE_CHECKPOINT, "some of its pieces are missing on the nodes");
    }
    if (!may_survive(tiers, checkpoint, prospects)) {
        refuse(CKPT_REFUSAL_UNUSABLE_CHECKPOINT, "it was on nodes that are lost");
    }
}

/* Checked even if the checkpoint is not verified. */
void require_key(const Checkpoint &checkpoint)
{
    CKPT_EXPECT(checkpoint.manifest.has_value());
    if (checkpoint.manifest->is_encrypted() && !image_key()) {
        throw Error(fmt::format("checkpoint {} is encrypted: give its key (--key)",
                                checkpoint.name()),
                    EKEYREJECTED, CKPT_REFUSAL_WRONG_KEY);
    }
}

/* Returns the directories to which a checkpoint given by its path (DIR/JOB/NUMBER)
 * belongs. */
TierDirectories tiers_around(const Checkpoint &checkpoint, const TierDirectories &given)
{
    fs::path job = checkpoint.directory.parent_path();
    bool is_given =
        job.filename() != checkpoint.job || given.contains(job.parent_path());
    return is_given ? given : TierDirectories{job.parent_path(), {}};
}

/* For a checkpoint on the nodes, the user may name only the directory that all nodes see. */
TierDirectories tiers_of(const Checkpoint &checkpoint, const TierDirectories &given)
{
    if (!checkpoint.is_on_nodes || given.has_slow()) {
        return given;
    }
    return {checkpoint.directory.parent_path().parent_path(), given.fast};
}

} // namespace

/* Looks for state or checkpoints: any directory name could be a job's name. */
static bool has_job(const std::optional<Tiers> &tiers, const std::string &name)
{
    return tiers && (tiers->job_state(name) || !tiers->checkpoints(name).empty());
}

void require_no_job_directory(const fs::path &path)
{
    const fs::path job = fs::absolute(path).lexically_normal();
    const auto around = Tiers::open({job.parent_path(), {}});
    const std::string name = job.filename().string();

    if (has_job(around, name)) {
        stop_with(exit_not_found, "{} is the directory of the job {}: give --dir {} and the job's "
                                  "name",
                  path.string(), name, job.parent_path().string());
    }
}

TierDirectories directories_of(const std::string &option)
{
    try {
        return TierDirectories::parse(option);
    } catch (const Error &problem) {
        stop_with(exit_usage, "--dir: {}", problem.what());
    }
}

void require_name_of_job(const std::string &word)
{
    try {
        if (!word.empty()) {
            require_job_name(word);
        }
    } catch (const Error &problem) {
        stop_with(exit_usage, "{}", problem.what());
    }
}

Tiers require_tiers(const TierDirectories &directories)
{
    const WaitNotice notice(directories.text());
    auto tiers = Tiers::open(directories);
    if (!tiers) {
        stop_with(exit_not_found, "there is no checkpoint directory {}",
                  directories.text());
    }
    return *tiers;
}

namespace
{

/* Refuses a path that is not a checkpoint but a directory with checkpoints. */
void require_no_parent(const fs::path &path)
{
    require_no_job_directory(path);
    const auto tiers = Tiers::open({path, {}});
    if (tiers && std::ranges::any_of(tiers->jobs(), [&](const std::string &name) {
            return has_job(tiers, name);
        })) {
        stop_with(exit_not_found,
                  "{} is a directory of checkpoints, not a checkpoint: give it with --dir",
                  path.string());
    }
}

/* Returns why no checkpoint is usable, if the newest of the job (or of all jobs) is
 * unusable; else "". */
std::string why_none(const TierDirectories &directories, const std::string &job)
{
    const auto tiers = Tiers::open(directories);
    std::string why;

    for (const std::string &name : tiers ? tiers->jobs() : Words()) {
        for (const TierCheckpoint &entry : tiers->checkpoints(name)) {
            const Checkpoint &checkpoint = entry.checkpoint;
            if ((job.empty() || name == job) && checkpoint.state != Checkpoint::State::committed &&
                checkpoint.state != Checkpoint::State::incomplete) {
                why = fmt::format("; {} is {}: {}", checkpoint.name(),
                                  state_name(checkpoint.state), checkpoint.reason);
            }
        }
    }
    return why;
}

/* Opens all pieces, and with Verification::full reads them. */
void read_pieces(const Checkpoint &checkpoint, Verification how,
                 const std::function<void(std::uint64_t, std::uint64_t)> &progress)
{
    std::uint64_t all = checkpoint.manifest->bytes();
    std::uint64_t before = 0;
    for (const Piece &piece : checkpoint.manifest->pieces) {
        NodeFileReader reader =
            open_piece(checkpoint.directory, *checkpoint.manifest, piece);
        if (how == Verification::full) {
            reader.verify([&](std::uint64_t done, std::uint64_t) {
                if (progress) {
                    progress(std::min(before + done, all), all);
                }
            });
        }
        before += piece.bytes;
    }
    CKPT_INVARIANT(before == all);
}

} // namespace

FoundCheckpoint find_checkpoint(const TierDirectories &directories,
                                const std::string &word)
{
    const bool is_named = word.starts_with('/') || word.starts_with('.');
    const WaitNotice notice(is_named ? word : directories.text());

    try {
        if (is_path(directories, word)) {
            fs::path path = fs::canonical(word);
            require_no_parent(path);
            Checkpoint found = Store(path.parent_path()).resolve(path);
            return {found, tiers_around(found, directories), false};
        }
        const Checkpoint found = require_tiers(directories).resolve(word);
        return {found, tiers_of(found, directories), word.find('/') == word.npos};
    } catch (const Error &problem) {
        if (problem.code() != ENOENT) {
            throw;
        }
        const std::string why =
            word.find('/') == word.npos ? why_none(directories, word) : std::string();
        throw CommandError(exit_not_found, problem.what() + why);
    }
}

Checkpoint find_checkpoint_here(const TierDirectories &directories, const std::string &word)
{
    Checkpoint found = find_checkpoint(directories, word).checkpoint;
    CKPT_INVARIANT(found.manifest && found.state == Checkpoint::State::committed);
    if (found.is_on_nodes) {
        stop_with(exit_not_found,
                  "{} lies on the nodes that have written it, in {}: not all of it can be read "
                  "from here",
                  found.name(), found.directory.string());
    }
    return found;
}

void verify_checkpoint(
    const Checkpoint &checkpoint, Verification how,
    const std::function<void(std::uint64_t, std::uint64_t)> &progress)
{
    CKPT_EXPECT(checkpoint.manifest.has_value());
    require_key(checkpoint);
    if (how == Verification::none || checkpoint.is_on_nodes) {
        return; /* the nodes verify these when they gather them */
    }
    try {
        read_pieces(checkpoint, how, progress);
    } catch (const Error &problem) {
        const Refusal why = refusal_of(problem, CKPT_REFUSAL_UNUSABLE_CHECKPOINT);
        throw Error(why.detail(), problem.code(), why.identity());
    }
}

bool has_damaged(const TierDirectories &directories, const std::string &job,
                 const Prospects &prospects)
{
    const auto tiers = Tiers::open(directories);
    const auto entries = tiers ? tiers->checkpoints(job) : std::vector<TierCheckpoint>();

    return std::ranges::any_of(entries, [&](const TierCheckpoint &entry) {
        const Checkpoint &checkpoint = entry.checkpoint;
        return checkpoint.number > prospects.above &&
               checkpoint.state != Checkpoint::State::incomplete &&
               !prospects.not_replayed.contains(checkpoint.number) &&
               (checkpoint.is_useless() || !checkpoint.is_on_nodes ||
                (!prospects.not_on_nodes.contains(checkpoint.number) &&
                 may_survive(*tiers, checkpoint, prospects)));
    });
}

std::optional<Checkpoint>
newest_usable(const TierDirectories &directories, const std::string &job,
              const Prospects &prospects, Verification how,
              const std::function<void(std::uint64_t, std::uint64_t)> &progress)
{
    const auto tiers = Tiers::open(directories);
    std::vector<TierCheckpoint> all;
    std::optional<Error> problem; /* with the newest checkpoint */
    if (tiers) {
        all = tiers->checkpoints(job);
    }
    for (const TierCheckpoint &entry : all | std::views::reverse) {
        const Checkpoint &checkpoint = entry.checkpoint;
        if (checkpoint.number <= prospects.above ||
            checkpoint.state == Checkpoint::State::incomplete) {
            continue;
        }
        try {
            if (checkpoint.is_useless()) {
                refuse(CKPT_REFUSAL_UNUSABLE_CHECKPOINT, "{}", checkpoint.reason);
            }
            if (prospects.not_replayed.contains(checkpoint.number)) {
                refuse(CKPT_REFUSAL_NOT_REPLAYABLE, "the replay of the rank has failed");
            }
            CKPT_INVARIANT(checkpoint.manifest.has_value());
            require_key(checkpoint);
            if (checkpoint.is_on_nodes) {
                require_prospect(*tiers, checkpoint, prospects);
            } else {
                verify_checkpoint(checkpoint, how, progress);
            }
            require_files(directories, checkpoint, prospects.files);
            return checkpoint;
        } catch (const Error &damage) {
            fmt::print(stderr, "ckpt: {} cannot be used: {}\n", checkpoint.name(),
                       message_of(damage));
            problem = problem ? problem : damage;
        }
    }
    if (problem) {
        throw *problem;
    }
    return std::nullopt;
}

const char *state_name(Checkpoint::State state)
{
    switch (state) {
    case Checkpoint::State::committed:
        return "committed";
    case Checkpoint::State::incomplete:
        return "incomplete";
    case Checkpoint::State::damaged:
        return "damaged";
    case Checkpoint::State::unreadable:
        break;
    }
    return "unreadable";
}

} // namespace ckpt::cli
