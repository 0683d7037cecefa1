/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drop.hpp - drops records that no remaining checkpoint needs.
 */
#pragma once

#include <cstdint>
#include <filesystem>

namespace ckpt::journal
{

/*
 * Afterwards files can only be rolled back to this checkpoint and to later ones. Processes of
 * the job may be alive, so their logs stay; their space is released where the file system
 * supports that. Does nothing if the journal does not know the checkpoint, or while a
 * rollback is unfinished. Throws Error.
 */
void drop_before(const std::filesystem::path &journal, std::uint64_t checkpoint);

/* Removes the whole journal of a job that has ended without checkpoints. The directory stays
 * if it has foreign files. Throws Error. */
void forget(const std::filesystem::path &journal);

} // namespace ckpt::journal
