/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bit_stream.hpp - a bit stream: numbers of any count of bits, packed into
 * bytes with the most significant bit first. In a header for speed: some bits
 * are put for each byte of memory.
 */
#pragma once

#include "common/error.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ckpt::bench
{

class BitWriter
{
  public:
    explicit BitWriter(std::size_t expected_bytes)
    {
        bytes_.reserve(expected_bytes);
    }

    /* Appends the lowest `count` bits of `value`, up to 64; its other bits must
     * be 0. */
    void put(std::uint64_t value, unsigned count)
    {
        if (count > word_bits) {
            put(value >> word_bits, count - word_bits);
            value &= ~std::uint32_t{0};
            count = word_bits;
        }
        held_ = held_ << count | value;
        held_bits_ += count;
        if (held_bits_ >= word_bits) {
            append_held(word_bits);
        }
    }

    /* Returns all bits that were put, padded with zeros to a whole byte. */
    std::vector<std::byte> finish() &&
    {
        unsigned padding = -held_bits_ % 8;
        held_ <<= padding;
        held_bits_ += padding;
        append_held(held_bits_);
        return std::move(bytes_);
    }

  private:
    static constexpr unsigned word_bits = 32;

    /* Appends the first `count` of the held bits; `count` is a multiple of
     * 8. */
    void append_held(unsigned count)
    {
        for (; count > 0; count -= 8) {
            held_bits_ -= 8;
            bytes_.push_back(static_cast<std::byte>(held_ >> held_bits_));
        }
    }

    std::vector<std::byte> bytes_;
    std::uint64_t held_ = 0; /* its lowest bits are not appended yet */
    unsigned held_bits_ = 0; /* how many, less than a word */
};

/* Throws Error if the bytes end before the requested bits. */
class BitReader
{
  public:
    static constexpr unsigned most_bits = 56; /* taken at once */

    explicit BitReader(std::span<const std::byte> bytes)
        : bytes_(bytes) {}

    /* Returns the number of zeros before the next one bit, without consuming
     * any. */
    unsigned zeros()
    {
        refill();
        auto zeros = static_cast<unsigned>(std::countl_zero(held_));
        if (zeros >= held_bits_) {
            fail("bits end within a number");
        }
        return zeros;
    }

    /* Returns the next `count` bits, 1 to most_bits, as a number. */
    std::uint64_t take(unsigned count)
    {
        refill();
        if (count > held_bits_) {
            fail("bits end within a number");
        }
        std::uint64_t value = held_ >> (64 - count);
        held_ <<= count;
        held_bits_ -= count;
        return value;
    }

    /* Whether only the padding of the last byte is left. */
    bool is_at_end() const
    {
        return bytes_.empty() && held_bits_ < 8 && held_ == 0;
    }

  private:
    void refill()
    {
        while (held_bits_ <= most_bits && !bytes_.empty()) {
            held_ |= std::to_integer<std::uint64_t>(bytes_.front())
                     << (most_bits - held_bits_);
            held_bits_ += 8;
            bytes_ = bytes_.subspan(1);
        }
    }

    std::span<const std::byte> bytes_; /* after those held */
    std::uint64_t held_ = 0;           /* its highest bits are next; the others are 0 */
    unsigned held_bits_ = 0;
};

} // namespace ckpt::bench
