/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_range.cpp - reads chunks of a piece from its file.
 */
#include "config.h"
#include "redundancy/piece_range.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt::redundancy
{

std::uint64_t bytes_there(const Member &member, std::uint64_t offset, std::uint64_t bytes)
{
    return std::min(bytes, member.bytes - std::min(member.bytes, offset));
}

void require_size(const Member &member, BlockSource &source)
{
    const std::uint64_t bytes = source.size(member.file);

    if (bytes != member.bytes) {
        fail("the piece {} of {} has {} bytes, not {}", member.file, member.host, bytes,
             member.bytes);
    }
}

void announce_chunk(const Group &group, unsigned member, unsigned chunk,
                    std::uint64_t bytes, BlockSource &source)
{
    CKPT_EXPECT(bytes <= group.chunk);
    const Member &whose = group.members.at(member);
    const std::uint64_t offset = chunk * group.chunk;

    if (const std::uint64_t there = bytes_there(whose, offset, bytes)) {
        source.announce(whose.file, offset, there);
    }
}

void read_chunk(const Group &group, unsigned member, unsigned chunk, const Slice &slice,
                BlockSource &source, std::span<std::byte> into)
{
    CKPT_EXPECT(slice.offset + into.size() <= group.chunk);
    const Member &whose = group.members.at(member);
    const std::uint64_t offset = chunk * group.chunk + slice.offset;
    const std::uint64_t there = bytes_there(whose, offset, into.size());

    if (there > 0) {
        source.read(whose.file, offset, into.first(there));
    }
    std::ranges::fill(into.subspan(there), std::byte{0});
}

} // namespace ckpt::redundancy
