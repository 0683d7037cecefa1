/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash_codec.cpp - predictions, and runs of right predictions. Where the
 * dissertation is incomplete or unclear, this file decides as follows:
 *
 * - The hash is gzip's, which is of the same time: each byte shifts the earlier
 *   ones by 5 of 15 bits, so a byte has left the hash after three steps. Hence
 *   32768 entries.
 * - The table is zero at first, and so are the three bytes before the first
 *   byte: fresh memory is predicted from its first byte on.
 * - Literals begin with a one and runs with a zero, even a run of one. So the
 *   one of a literal is not taken for the first bit of a run's length. This is
 *   the reason for the zero, which Elias' gamma code does not have.
 * - The example, 128 right predictions, is printed as 00000000 1000000. This is
 *   one zero less than the rule gives, and than the "two bytes" of the text
 *   have.
 * - A run that is under way at the end is put like any other; then zeros fill
 *   up the byte. They are not a run, as the decompressor knows the size.
 */
#include "hash_codec.hpp"

#include "bit_stream.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace ckpt::bench
{

namespace
{

constexpr unsigned shift = 5;
constexpr unsigned entries = 1u << 3 * shift; /* of three bytes */

/* The byte that came last after the bytes of each hash. */
using Followers = std::array<std::byte, entries>;

/* Returns the hash of the bytes so far, from the hash of the bytes before the
 * last one. */
unsigned hash_on(unsigned hash, std::byte last)
{
    return (hash << shift ^ std::to_integer<unsigned>(last)) % entries;
}

constexpr unsigned literal_mark = 1u << 8; /* before the byte's own bits */
constexpr unsigned literal_bits = 9;

void put_run(BitWriter &output, std::uint64_t hits)
{
    auto bits = static_cast<unsigned>(std::bit_width(hits));
    output.put(0, bits);
    output.put(hits, bits);
}

/* Returns the length of a run that begins with `zeros` zeros, at most
 * `most`. */
std::uint64_t take_run(BitReader &input, unsigned zeros, std::uint64_t most)
{
    if (zeros > BitReader::most_bits) {
        fail("a run of {} bits", zeros);
    }
    input.take(zeros);
    std::uint64_t hits = input.take(zeros);
    if (hits > most) {
        fail("a run of {} bytes, with {} to come", hits, most);
    }
    return hits;
}

} // namespace

std::vector<std::byte> hash_compress(std::span<const std::byte> input)
{
    BitWriter output(input.size() + input.size() / 8 + 1);
    Followers followers{};
    unsigned hash = 0;
    std::uint64_t hits = 0;

    for (std::byte byte : input) {
        std::byte &prediction = followers[hash];
        if (byte == prediction) {
            hits++;
        } else {
            put_run(output, hits);
            hits = 0;
            output.put(literal_mark | std::to_integer<unsigned>(byte),
                       literal_bits);
            prediction = byte;
        }
        hash = hash_on(hash, byte);
    }
    put_run(output, hits);
    return std::move(output).finish();
}

std::vector<std::byte> hash_decompress(std::span<const std::byte> input,
                                       std::size_t size)
{
    BitReader bits(input);
    std::vector<std::byte> output(size);
    Followers followers{};
    unsigned hash = 0;

    for (std::size_t at = 0; at < size;) {
        unsigned zeros = bits.zeros();
        std::uint64_t end = at + 1;
        if (zeros == 0) {
            followers[hash] = static_cast<std::byte>(bits.take(literal_bits));
        } else {
            end = at + take_run(bits, zeros, size - at);
        }
        for (; at < end; at++) {
            output[at] = followers[hash];
            hash = hash_on(hash, output[at]);
        }
    }
    if (!bits.is_at_end()) {
        fail("bits behind {} bytes", size);
    }
    return output;
}

} // namespace ckpt::bench
