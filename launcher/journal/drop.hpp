/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drop.hpp - forgets what no checkpoint that is kept needs any more.
 */
#pragma once

#include <cstdint>
#include <filesystem>

namespace ckpt::journal
{

/*
 * Afterwards files can be rolled back to this checkpoint and to later ones only. Processes of
 * the job may be alive: their logs stay, and their space is given back where the file system
 * can do that. Nothing happens if the journal does not know the checkpoint, or while a roll
 * back is unfinished. Throws Error.
 */
void drop_before(const std::filesystem::path &journal, std::uint64_t checkpoint);

/* The job has ended, and has no checkpoints: forgets everything, and removes the directory
 * unless something is in it that is not the journal's. Throws Error. */
void forget(const std::filesystem::path &journal);

} // namespace ckpt::journal
