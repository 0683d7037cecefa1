/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protect.hpp - a member's parity of the pieces of the others.
 */
#pragma once

#include "image/write_limit.hpp"
#include "redundancy/block_source.hpp"
#include "redundancy/group.hpp"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <vector>

namespace ckpt::redundancy
{

/*
 * Writes parity_file_name() of the member `self` into the directory of the checkpoint: under
 * a temporary name, then fsync, rename, fsync of the directory.
 * members: where the pieces of the members are, in the order of the group; that of `self`
 * is not read and may be null. They belong to the caller, who leaves them alone meanwhile.
 * limit: for what is written; null: none.
 * room: a file that nobody needs and that can be overwritten, as NewFile has it; or no path.
 * Throws Error if a piece does not have the length that the group says, if something cannot
 * be read or written, and soon after it is cancelled; then nothing is left of the file. A
 * source that does not answer holds that up for as long as it waits itself.
 */
void write_parity(const Group &group, std::size_t self,
                  const std::filesystem::path &directory,
                  const std::vector<BlockSource *> &members, WriteLimit *limit,
                  const std::atomic<bool> &cancelled,
                  const std::filesystem::path &room = {});

} // namespace ckpt::redundancy
