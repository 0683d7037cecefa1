/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.hpp - rebuilds the piece of a lost node from the files of the other members.
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
 * Writes the piece of the member `lost` into the directory, in the same way as
 * write_parity().
 *
 * members: sources of the files of the other members, in the order of the group; null:
 * lost, as for `lost` itself. The caller owns the sources, and must not use them
 * meanwhile.
 *
 * Verifies every slice that it reads or computes, with the checksums taken when the parity
 * was written. A slice that is damaged or unreadable counts as lost, and others replace it
 * as far as possible. So the result is either identical to the lost piece, or there is
 * none. Throws Error if too much is lost, naming the missing parts and their members, and
 * after a cancellation.
 */
void rebuild_piece(const Group &group, std::size_t lost,
                   const std::filesystem::path &directory,
                   const std::vector<BlockSource *> &members,
                   const std::atomic<bool> &cancelled);

/* Copies a complete piece from a source into the directory. Checks only its length. Throws
 * Error. */
void fetch_piece(const Member &member, const std::filesystem::path &directory,
                 BlockSource &source);

} // namespace ckpt::redundancy
