/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coder.hpp - blocks of a stripe from other blocks of it (ISA-L).
 *
 * Each block is a linear combination of the blocks of data, byte by byte, in the field of
 * 256 elements: one parity is the exclusive or; several are the rows of a Cauchy matrix,
 * so any `data` of all blocks give all others. Encoding and decoding are thus the same
 * thing with other coefficients.
 *
 * Immutable once made: from any thread.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ckpt::redundancy
{

/* A sum of products of blocks with fixed coefficients. */
class Combination
{
  public:
    explicit Combination(std::vector<std::uint8_t> coefficients);

    /* One source for each coefficient, as long as the result. All of them begin at
     * multiples of 64 bytes. */
    void apply(std::span<const std::byte *const> sources,
               std::span<std::byte> result) const;

  private:
    std::vector<std::uint8_t> coefficients_;
    std::vector<std::uint8_t> tables_; /* of ISA-L; none for an exclusive or */
};

class Coder
{
  public:
    /* Blocks of a stripe: data + parities, at most largest_group. */
    Coder(unsigned data, unsigned parities);

    /* A block of parity, numbered from 0, from all blocks of data. */
    Combination parity(unsigned row) const;

    /* Any block from any `data` others, in this order. Blocks are numbered as in
     * redundancy/layout.hpp; those of `from` differ. */
    Combination recovery(std::span<const unsigned> from, unsigned wanted) const;

  private:
    std::span<const std::uint8_t> row(unsigned block) const;

    unsigned data_;
    std::vector<std::uint8_t> matrix_; /* a row for each block, a column for each of data */
};

} // namespace ckpt::redundancy
