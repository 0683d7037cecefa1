/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coder.hpp - computes blocks of a stripe from other blocks of the stripe (ISA-L).
 *
 * Each block is a linear combination of the data blocks, byte by byte, in the field of 256
 * elements. A single parity block is the exclusive or. Several parity blocks are rows of a
 * Cauchy matrix, so any `data` blocks determine all others. So encoding and decoding differ
 * only in their coefficients.
 *
 * Immutable after construction, so any thread may use it.
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

    /* There is one source for each coefficient, as long as the result. All addresses are
     * multiples of 64 bytes. */
    void apply(std::span<const std::byte *const> sources,
               std::span<std::byte> result) const;

  private:
    std::vector<std::uint8_t> coefficients_;
    std::vector<std::uint8_t> tables_; /* tables of ISA-L; empty for exclusive or */
};

class Coder
{
  public:
    /* Blocks of a stripe: data + parities, at most largest_group. */
    Coder(unsigned data, unsigned parities);

    /* Returns how to compute a parity block, numbered from 0, from all data blocks. */
    Combination parity(unsigned row) const;

    /* Returns how to compute any block from `data` others, in this order. Blocks are
     * numbered as in redundancy/layout.hpp; the elements of `from` are distinct. */
    Combination recovery(std::span<const unsigned> from, unsigned wanted) const;

  private:
    std::span<const std::uint8_t> row(unsigned block) const;

    unsigned data_;
    std::vector<std::uint8_t> matrix_; /* row: a block; column: a data block */
};

} // namespace ckpt::redundancy
