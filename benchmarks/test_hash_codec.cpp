/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_hash_codec.cpp - the codec of 1993 bit for bit, compression and
 * decompression, and decompression of foreign input.
 */
#include "hash_codec.hpp"

#include "bit_stream.hpp"
#include "common/error.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace ckpt;
using namespace ckpt::bench;

namespace
{

using Bytes = std::vector<std::byte>;

constexpr std::size_t mebibyte = 1u << 20;

Bytes bytes_of(std::initializer_list<unsigned> values)
{
    Bytes bytes;
    for (unsigned value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

/* Random bytes of `values` different values: 1 makes zeros, 256 make
 * incompressible bytes. */
Bytes random_bytes(std::size_t size, unsigned values = 256)
{
    std::mt19937 chance(static_cast<unsigned>(size) + values);
    Bytes bytes(size);
    for (std::byte &byte : bytes) {
        byte = static_cast<std::byte>(chance() % values);
    }
    return bytes;
}

Bytes text(std::size_t size)
{
    constexpr std::string_view sentence =
        "A checkpoint that might be wrong is worse than none. ";
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; i++) {
        bytes[i] = static_cast<std::byte>(sentence[i % sentence.size()]);
    }
    return bytes;
}

void expect_round_trip(const Bytes &bytes)
{
    Bytes compressed = hash_compress(bytes);
    EXPECT_LE(compressed.size(), bytes.size() + bytes.size() / 8 + 1);
    EXPECT_EQ(hash_decompress(compressed, bytes.size()), bytes);
}

bool is_refused(std::span<const std::byte> input, std::size_t size)
{
    try {
        hash_decompress(input, size);
        return false;
    } catch (const Error &) {
        return true;
    }
}

} // namespace

/* "The same sequence will yield just two bytes with run-length encoding." */
TEST(HashCodec, PutsTheExampleOfTheDissertationBitForBit)
{
    EXPECT_EQ(hash_compress(Bytes(128)), bytes_of({0b00000000, 0b10000000}));
}

TEST(HashCodec, PutsLiteralsAndRuns)
{
    /* 1 and the byte, twice */
    EXPECT_EQ(hash_compress(bytes_of({0x41, 0xff})),
              bytes_of({0b10100000, 0b11111111, 0b11000000}));
    /* a run of one: 0 1; a literal; a run of three: 00 11; a literal, as zeros
     * were last followed by 0x11; a run of one */
    EXPECT_EQ(hash_compress(bytes_of({0, 0x11, 0, 0, 0, 0, 0})),
              bytes_of({0b01100010, 0b00100111, 0b00000000, 0b01000000}));
    EXPECT_EQ(hash_compress({}), Bytes());
    /* 21 zeros and 2 to the power of 20 */
    EXPECT_EQ(hash_compress(Bytes(mebibyte)), bytes_of({0, 0, 0b100, 0, 0, 0}));
}

/* The third byte from the end matters, the fourth does not. */
TEST(HashCodec, LooksAtThreeBytes)
{
    Bytes last = bytes_of({5, 1, 2, 3, 7});
    auto size_after = [&](std::initializer_list<unsigned> first) {
        Bytes bytes = bytes_of(first);
        bytes.insert(bytes.end(), last.begin(), last.end());
        return hash_compress(bytes).size();
    };
    EXPECT_LT(size_after({9, 1, 2, 3, 7}), size_after({9, 4, 2, 3, 7}));
}

TEST(HashCodec, GivesBackEveryLength)
{
    for (std::size_t size = 0; size <= 300; size++) {
        for (unsigned values : {1u, 2u, 3u, 20u, 256u}) {
            expect_round_trip(random_bytes(size, values));
        }
        expect_round_trip(text(size));
    }
}

TEST(HashCodec, GivesBackMuch)
{
    for (unsigned values : {1u, 2u, 16u, 256u}) {
        expect_round_trip(random_bytes(3 * mebibyte + 1, values));
    }
    Bytes mixed = random_bytes(mebibyte);
    mixed.resize(2 * mebibyte);
    Bytes end = text(mebibyte);
    mixed.insert(mixed.end(), end.begin(), end.end());
    expect_round_trip(mixed);
}

TEST(HashCodec, CompressesWhatRepeatsAndNothingElse)
{
    EXPECT_LT(hash_compress(text(mebibyte)).size(), mebibyte / 8);
    EXPECT_GT(hash_compress(random_bytes(mebibyte)).size(), mebibyte);
}

TEST(HashCodec, RefusesInputThatIsCutShortOrTooLong)
{
    for (const Bytes &bytes : {Bytes(200), text(200), random_bytes(200, 2)}) {
        Bytes compressed = hash_compress(bytes);
        std::span whole(compressed);
        for (std::size_t size = 0; size < whole.size(); size++) {
            EXPECT_TRUE(is_refused(whole.first(size), bytes.size())) << size;
        }
        compressed.push_back(std::byte{0});
        EXPECT_TRUE(is_refused(compressed, bytes.size()));
    }
}

TEST(HashCodec, RefusesAnotherSize)
{
    for (const Bytes &bytes : {Bytes(200), text(200), random_bytes(200)}) {
        Bytes compressed = hash_compress(bytes);
        for (std::size_t size : {0, 1, 100, 199, 201, 1000}) {
            EXPECT_TRUE(is_refused(compressed, size)) << size;
        }
    }
}

TEST(HashCodec, RefusesImpossibleRuns)
{
    EXPECT_TRUE(is_refused(Bytes(7), 10));   /* zeros and no number */
    EXPECT_TRUE(is_refused(Bytes(100), 10)); /* more zeros than in any run */
    Bytes huge(17);
    huge[7] = std::byte{1}; /* 63 zeros, then a number of as many bits */
    EXPECT_TRUE(is_refused(huge, 10));
    /* longer than the remaining output: 12 of 11 */
    EXPECT_TRUE(is_refused(bytes_of({0b00001100}), 11));
    EXPECT_FALSE(is_refused(bytes_of({0b00001100}), 12));
    EXPECT_TRUE(is_refused(bytes_of({0b00001100 | 1}), 11));
}

/* Any bytes, and valid ones with some changed: the decoder throws Error, or
 * returns as many bytes. */
TEST(HashCodec, StandsWhateverTheInputIs)
{
    constexpr std::size_t size = 3000;
    Bytes right = hash_compress(random_bytes(size, 5));
    std::mt19937 chance(7);
    int given = 0, refused = 0;

    for (int round = 0; round < 5000; round++) {
        Bytes wrong = round % 2 == 0 ? right : random_bytes(1 + chance() % 500);
        for (unsigned i = 0; i <= chance() % 3; i++) {
            wrong[chance() % wrong.size()] = static_cast<std::byte>(chance());
        }
        try {
            EXPECT_EQ(hash_decompress(wrong, size).size(), size);
            given++;
        } catch (const Error &) {
            refused++;
        }
    }
    EXPECT_GT(given, 0);
    EXPECT_GT(refused, 0);
}

TEST(BitStream, GivesBackNumbersOfAnyCountOfBits)
{
    BitWriter writer(0);
    std::mt19937_64 chance(3);
    std::vector<std::pair<std::uint64_t, unsigned>> numbers;
    for (int i = 0; i < 10000; i++) {
        auto count = static_cast<unsigned>(1 + chance() % BitReader::most_bits);
        numbers.emplace_back(chance() >> (64 - count), count);
        writer.put(numbers.back().first, count);
    }
    Bytes bytes = std::move(writer).finish();
    BitReader reader(bytes);
    for (auto [number, count] : numbers) {
        ASSERT_EQ(reader.take(count), number);
    }
    EXPECT_TRUE(reader.is_at_end());
    EXPECT_THROW(reader.take(8), Error);
}
