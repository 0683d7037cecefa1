/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protect.hpp - computes a member's parity of the pieces of the other members.
 */
#pragma once

#include "image/io/write_limit.hpp"
#include "redundancy/block_source.hpp"
#include "redundancy/group.hpp"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <vector>

namespace ckpt::redundancy
{

/*
 * Writes parity_file_name() of the member `self` into the checkpoint's directory: under a
 * temporary name, then fsync, rename, fsync of the directory.
 *
 * members: sources of the members' pieces, in the order of the group. The source of `self`
 * is not read, and may be null. The caller owns the sources, and must not use them
 * meanwhile. limit: for written bytes; null: none. room: an unused file that may be
 * overwritten, as for NewFile; or an empty path.
 *
 * Throws Error if a piece does not have the length in the group, if reading or writing
 * fails, and soon after a cancellation; then no file is left behind. If a source does not
 * answer, the function waits as long as the source does.
 */
void write_parity(const Group &group, std::size_t self,
                  const std::filesystem::path &directory,
                  const std::vector<BlockSource *> &members, WriteLimit *limit,
                  const std::atomic<bool> &cancelled,
                  const std::filesystem::path &room = {});

} // namespace ckpt::redundancy
