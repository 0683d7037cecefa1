/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash_codec.hpp - the codec of 1993, for comparison with today's: Plank 1993,
 * section 4.2.7; Wheeler's Algorithm 1 [BJLM92] with run lengths.
 *
 * A table, indexed by a hash of the last three bytes, has the byte that
 * followed them the last time, and predicts that it follows again. N right
 * predictions in a row become a run: as many zeros as N has bits, then N. A
 * byte that was not predicted becomes a literal: a one, then its 8 bits. Bits
 * fill bytes from the most significant one on. hash_codec.cpp lists the gaps in
 * the dissertation's description.
 */
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ckpt::bench
{

/* Compresses bytes, to at most 9/8 of them and one byte. */
std::vector<std::byte> hash_compress(std::span<const std::byte> input);

/*
 * Returns the `size` bytes from which hash_compress() made `input`. Throws
 * Error, and does nothing worse, if `input` does not give exactly that many. It
 * checks nothing else: a flipped bit of a literal changes bytes.
 */
std::vector<std::byte> hash_decompress(std::span<const std::byte> input,
                                       std::size_t size);

} // namespace ckpt::bench
