/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parity_file.hpp - the layout of parity-HOST.bin: a member's parity blocks, followed by the
 * index. The index has checksums of these blocks and of their source blocks, and identifies
 * group and member (docs/levels.md).
 *
 * All numbers are little-endian.
 */
#pragma once

#include "redundancy/block_source.hpp"
#include "redundancy/group.hpp"
#include "redundancy/layout.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ckpt::redundancy
{

/* A block has one checksum for each slice; the last slice may be shorter. */
inline constexpr std::uint64_t slice_bytes = 1u << 20;
/* A slice is processed in parts of this size, so that the parts of several blocks fit into a
 * processor's cache. */
inline constexpr std::uint64_t part_bytes = 256u << 10;

inline constexpr std::array<char, 8> parity_magic = {'C', 'K', 'P', 'T',
                                                     'P', 'A', 'R', '\n'};
inline constexpr std::uint32_t parity_version = 1;

/* The last bytes of the file. */
struct ParityTail {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t member;     /* index in the group of the member that owns the file */
    std::uint64_t checksums;  /* number of checksums, of 8 bytes each, after the blocks */
    std::uint64_t text_bytes; /* length of the JSON that follows: the group */
    std::uint64_t checksum;   /* XXH3 of checksums, JSON, and this tail up to here */
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(ParityTail) == 40, "layout of ParityTail");
static_assert(offsetof(ParityTail, checksum) == 32, "layout of ParityTail");

/* A member's index for the stripes in which it has parity: XXH3 of every slice of all data
 * blocks, and of its own block. */
class ParityIndex
{
  public:
    /* Allocates memory for all checksums, which are not set yet. The caller must know that the
     * pieces have the lengths in the group. The group must outlive this object. */
    ParityIndex(const Group &group, std::size_t member);

    /* Returns the checksum of a slice of a block (redundancy/layout.hpp): a data block, or the
     * member's own. */
    std::uint64_t &checksum(unsigned stripe, unsigned block, std::uint64_t slice);
    std::uint64_t checksum(unsigned stripe, unsigned block, std::uint64_t slice) const;
    /* Whether the index has checksums of the block. */
    bool knows(unsigned stripe, unsigned block) const;

    /* Returns the bytes that follow the blocks in the file. */
    std::string bytes() const;

    /* Reads the index from the member's file. Throws Error unless the file has the right
     * length, its index is intact, and it belongs to this member of this group. */
    static ParityIndex load(const Group &group, std::size_t member, BlockSource &source);

  private:
    std::size_t place(unsigned stripe, unsigned block, std::uint64_t slice) const;

    const Group *group_;
    unsigned member_;
    Layout layout_;
    std::vector<std::uint64_t> checksums_; /* by stripe, block, slice */
};

/* A slice of a block, or a part of a slice. */
struct Slice {
    std::uint64_t number;
    std::uint64_t offset; /* offset in the block */
    std::uint64_t bytes;  /* length, a multiple of chunk_unit */
};

/* Returns the slices, in order, that contain the first `bytes` bytes of a block. */
std::vector<Slice> slices_of(const Group &group, std::uint64_t bytes);

/* Divides the slice into parts of at most part_bytes, in order. */
std::vector<Slice> parts_of(const Slice &slice);

} // namespace ckpt::redundancy
