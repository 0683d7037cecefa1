/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_rollback.hpp - rolls the files of a job back to a checkpoint before a restart.
 */
#pragma once

#include "image/store/tiers.hpp"
#include "journal/rollback.hpp"

namespace ckpt::cli
{

/* If this process has a key (image/seal/image_key.hpp), the job has no file journal, because the
 * journal is neither encrypted nor authenticated. Then provide_journal() returns an empty
 * path, and the other functions do nothing. */

/* Returns the ranks of a checkpoint, for its mark in the journal. */
journal::Ranks ranks_of(const Manifest &manifest);

/* Returns the directory of the job's file journal, which it creates if needed. Throws
 * Error. */
std::filesystem::path provide_journal(const TierDirectories &directories,
                                      const std::string &job);

/*
 * Rolls the files back to the checkpoint; without one (null), to the start of the job. Prints
 * warnings to stderr. Throws Error with the reason if that is impossible.
 */
void bring_files_back(const TierDirectories &directories, const std::string &job,
                      const Checkpoint *checkpoint, journal::Files files);

/* Ends the concealing of outputs for a job that concealed them earlier and now starts without
 * a process that reveals them; prints a notice. Throws Error. */
void end_concealing(const TierDirectories &directories, const std::string &job);

/* Throws the Error that bring_files_back() would throw, but changes nothing. */
void require_files(const TierDirectories &directories, const Checkpoint &checkpoint,
                   journal::Files files);

} // namespace ckpt::cli
