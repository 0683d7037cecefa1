/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parity_file.hpp - the layout of parity-HOST.bin: a member's blocks of parity, then the
 * index: checksums of them and of what they were made of, and whose they are
 * (docs/levels.md).
 *
 * All numbers are little endian.
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

/* A block has one checksum for each slice of it; the last one may be shorter. */
inline constexpr std::uint64_t slice_bytes = 1u << 20;
/* Of a slice, so much is worked on at once: some of these fit into a processor's cache. */
inline constexpr std::uint64_t part_bytes = 256u << 10;

inline constexpr std::array<char, 8> parity_magic = {'C', 'K', 'P', 'T',
                                                     'P', 'A', 'R', '\n'};
inline constexpr std::uint32_t parity_version = 1;

/* The last bytes of the file. */
struct ParityTail {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t member;     /* whose file it is: its number in the group */
    std::uint64_t checksums;  /* how many there are, of 8 bytes each, behind the blocks */
    std::uint64_t text_bytes; /* then so much JSON: the group */
    std::uint64_t checksum;   /* XXH3 of checksums, JSON and this tail up to here */
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(ParityTail) == 40, "layout of ParityTail");
static_assert(offsetof(ParityTail, checksum) == 32, "layout of ParityTail");

/* What a member knows of the stripes in which it has parity: XXH3 of every slice of all
 * blocks of data, and of its own block. */
class ParityIndex
{
  public:
    /* No checksums yet, but memory for all that pieces of such lengths need: it is to be known
     * that they have them. The group must live longer. */
    ParityIndex(const Group &group, std::size_t member);

    /* Of a slice of a block of a stripe (redundancy/layout.hpp): one of data, or the
     * member's own. */
    std::uint64_t &checksum(unsigned stripe, unsigned block, std::uint64_t slice);
    std::uint64_t checksum(unsigned stripe, unsigned block, std::uint64_t slice) const;
    /* Whether it has checksums of the block. */
    bool knows(unsigned stripe, unsigned block) const;

    /* What follows the blocks in the file. */
    std::string bytes() const;

    /* Reads it from the member's file. Throws Error unless the file is whole in length,
     * its index is whole, and it is of this member of this group. */
    static ParityIndex load(const Group &group, std::size_t member, BlockSource &source);

  private:
    std::size_t place(unsigned stripe, unsigned block, std::uint64_t slice) const;

    const Group *group_;
    unsigned member_;
    Layout layout_;
    std::vector<std::uint64_t> checksums_; /* by stripe, block, slice */
};

/* A slice of a block: what of the block it is. */
struct Slice {
    std::uint64_t number;
    std::uint64_t offset; /* in the block */
    std::uint64_t bytes;  /* a multiple of chunk_unit */
};

/* Those that the first so many bytes of a block are in, in order. */
std::vector<Slice> slices_of(const Group &group, std::uint64_t bytes);

/* The slice, in parts of at most part_bytes, in order. */
std::vector<Slice> parts_of(const Slice &slice);

} // namespace ckpt::redundancy
