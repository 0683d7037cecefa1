/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.hpp - the piece of a lost node, from what the others have.
 */
#pragma once

#include "redundancy/block_source.hpp"
#include "redundancy/group.hpp"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <vector>

namespace ckpt::redundancy
{

/*
 * Writes the piece of the member `lost` into the directory, as write_parity() does.
 * members: where the files of the others are, in the order of the group; null: lost, like
 * that of `lost` itself. They belong to the caller, who leaves them alone meanwhile.
 * Every slice that is read and every slice that is made is compared with a checksum that
 * was taken when the parity was written. One that is damaged or cannot be read counts as
 * lost, and others are taken in its place as far as there are any. So the piece is what it
 * was, or there is none.
 * Throws Error if too much is lost: it says what, and of whom. Also if it is cancelled.
 */
void rebuild_piece(const Group &group, std::size_t lost,
                   const std::filesystem::path &directory,
                   const std::vector<BlockSource *> &members,
                   const std::atomic<bool> &cancelled);

/* Copies a piece that is whole somewhere into the directory, as it is: nothing but its
 * length is checked. Throws Error. */
void fetch_piece(const Member &member, const std::filesystem::path &directory,
                 BlockSource &source);

} // namespace ckpt::redundancy
