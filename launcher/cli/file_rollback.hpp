/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_rollback.hpp - files of a job go back to a checkpoint before it is started from there.
 */
#pragma once

#include "image/tiers.hpp"
#include "journal/rollback.hpp"

namespace ckpt::cli
{

/* If this process has a key (image/image_key.hpp) there is no journal: it would be neither
 * encrypted nor authentic. Then provide_journal() gives an empty path, and the others do
 * nothing. */

/* Where the processes of the job keep the file journal; made if need be. Throws Error. */
std::filesystem::path provide_journal(const TierDirectories &directories,
                                      const std::string &job);

/*
 * Brings the files back to the checkpoint, or to the start of the job if there is none; what
 * the user should know goes to stderr. Throws Error, with the reason, if that cannot be.
 */
void bring_files_back(const TierDirectories &directories, const std::string &job,
                      const Checkpoint *checkpoint, journal::Files files);

/* A job that concealed its outputs is started without anybody who reveals them: it does not
 * any more, which is said. Throws Error. */
void end_concealing(const TierDirectories &directories, const std::string &job);

/* Throws the Error that bring_files_back() would throw; changes nothing. */
void require_files(const TierDirectories &directories, const Checkpoint &checkpoint,
                   journal::Files files);

} // namespace ckpt::cli
