/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_rollback.cpp - rolls the files of a job back to a checkpoint before a restart.
 */
#include "cli/files/file_rollback.hpp"

#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"
#include "journal/concealed.hpp"
#include "journal/place.hpp"
#include "journal/reveal.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace ckpt::cli
{

namespace
{

std::filesystem::path job_directory(const TierDirectories &directories, const std::string &job)
{
    return directories.lasting() / job;
}

journal::Wish wish_for(const TierDirectories &directories, const std::string &job,
                       const Checkpoint *checkpoint, journal::Files files)
{
    journal::Wish wish;

    wish.journal = journal::directory_in(job_directory(directories, job));
    wish.files = files;
    CKPT_EXPECT(checkpoint == nullptr || checkpoint->job == job); /* each job has a journal */
    if (checkpoint != nullptr && checkpoint->manifest) {
        wish.checkpoint = checkpoint->manifest->files_mark;
        wish.has_mark = wish.checkpoint != 0;
        wish.ranks = ranks_of(*checkpoint->manifest);
        wish.name = "checkpoint " + checkpoint->name();
    }
    return wish;
}

} // namespace

journal::Ranks ranks_of(const Manifest &manifest)
{
    return {manifest.rank_count, {manifest.replayed.begin(), manifest.replayed.end()}};
}

std::filesystem::path provide_journal(const TierDirectories &directories,
                                      const std::string &job)
{
    return image_key() ? std::filesystem::path()
                       : journal::provide_in(job_directory(directories, job));
}

void bring_files_back(const TierDirectories &directories, const std::string &job,
                      const Checkpoint *checkpoint, journal::Files files)
{
    if (image_key()) {
        return;
    }
    const journal::Outcome outcome =
        journal::bring_back(wish_for(directories, job, checkpoint, files));

    for (const std::string &warning : outcome.warnings) {
        fmt::print(stderr, "ckpt: {}\n", warning);
    }
}

void end_concealing(const TierDirectories &directories, const std::string &job)
{
    const auto journal = journal::directory_in(job_directory(directories, job));

    if (!image_key() && journal::is_concealed(journal)) {
        for (const std::string &warning : journal::reveal({.journal = journal})) {
            fmt::print(stderr, "ckpt: {}\n", warning);
        }
        journal::set_concealed(journal, false);
        fmt::print(stderr, "ckpt: outputs of the job are not concealed from now on; ckpt run "
                           "--files conceal --resume goes on concealing them\n");
    }
}

void require_files(const TierDirectories &directories, const Checkpoint &checkpoint,
                   journal::Files files)
{
    if (image_key()) {
        return;
    }
    journal::require_possible(wish_for(directories, checkpoint.job, &checkpoint, files));
}

} // namespace ckpt::cli
