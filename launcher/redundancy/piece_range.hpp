/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_range.hpp - reads chunks of a piece from its file. Bytes beyond its end are
 * zeros, and are not requested.
 */
#pragma once

#include "redundancy/block_source.hpp"
#include "redundancy/group.hpp"
#include "redundancy/parity_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ckpt::redundancy
{

/* Returns how many of `bytes` bytes at `offset` the piece has. */
std::uint64_t bytes_there(const Member &member, std::uint64_t offset, std::uint64_t bytes);

/* Throws Error unless the source has the piece with its length. */
void require_size(const Member &member, BlockSource &source);

/* Announces that the first `bytes` bytes of the chunk will be read, slice by slice. */
void announce_chunk(const Group &group, unsigned member, unsigned chunk,
                    std::uint64_t bytes, BlockSource &source);
void read_chunk(const Group &group, unsigned member, unsigned chunk, const Slice &slice,
                BlockSource &source, std::span<std::byte> into);

} // namespace ckpt::redundancy
