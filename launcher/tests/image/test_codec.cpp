/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_codec.cpp - codecs by name, compression and decompression.
 */
#include "config.h"
#include "image/codec/compressor.hpp"

#include "common/bytes.hpp"
#include "common/durations.hpp"
#include "image/codec/lz4_chunk.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

TEST(Codec, IsParsedFromItsName)
{
    EXPECT_EQ(Codec::parse("none").kind, Codec::Kind::none);
    EXPECT_EQ(Codec::parse("lz4").text(), "lz4");
    EXPECT_EQ(Codec::parse("auto").text(), "auto");
    EXPECT_EQ(Codec::parse("zstd").text(), "zstd:1");
    EXPECT_EQ(Codec::parse("zstd:19").level, 19);
    EXPECT_EQ(Codec::parse("zstd:-7").text(), "zstd:-7");
}

TEST(Codec, RefusesOtherNames)
{
    for (const char *name :
         {"", "gzip", "lz4:1", "auto:1", "zstd:", "zstd:x", "zstd:3x", "zstd:99", "ZSTD"}) {
        EXPECT_NE(error_of([&] { Codec::parse(name); }).find("codec"),
                  std::string::npos)
            << name;
    }
}

TEST(Codec, CompressesAndDecompresses)
{
    std::vector<std::byte> input(mebibyte);
    std::vector<std::byte> output(mebibyte);
    fill_text(input, 3);
    for (const char *name : {"lz4", "zstd:-5", "zstd", "zstd:9"}) {
        Compressor compressor(Codec::parse(name));
        auto [size, coding] = compressor.compress(input, output);
        ASSERT_GT(size, 0u) << name;
        EXPECT_LT(size, input.size() / 10) << name;
        std::vector<std::byte> back(mebibyte);
        EXPECT_EQ(decompress(coding, std::span(output).first(size), back), "");
        EXPECT_EQ(back, input) << name;
    }
}

TEST(Codec, LeavesWhatDoesNotCompress)
{
    std::vector<std::byte> input(mebibyte);
    std::vector<std::byte> output(mebibyte);
    fill_random(input, 1);
    EXPECT_EQ(Compressor(Codec::parse("zstd")).compress(input, output).size, 0u);
    EXPECT_EQ(Compressor(Codec::parse("lz4")).compress(input, output).size, 0u);
    fill_text(input, 1);
    EXPECT_EQ(Compressor(Codec::parse("none")).compress(input, output).size, 0u);
}

TEST(Codec, SaysWhyAChunkIsWrong)
{
    for (const char *name : {"lz4", "zstd"}) {
        std::vector<std::byte> input(mebibyte);
        std::vector<std::byte> output(mebibyte);
        fill_text(input, 3);
        Compressor compressor(Codec::parse(name));
        auto [size, coding] = compressor.compress(input, output);
        std::span chunk = std::span(output).first(size);
        std::vector<std::byte> longer(mebibyte + page);
        EXPECT_NE(decompress(coding, chunk, longer), "") << name;
        std::vector<std::byte> shorter(page);
        EXPECT_NE(decompress(coding, chunk, shorter), "") << name;
        EXPECT_NE(decompress(coding, chunk.first(chunk.size() / 2), input), "") << name;
        EXPECT_NE(decompress(coding, chunk.first(3), input), "") << name;
        EXPECT_NE(decompress(coding, {}, input), "") << name;
        output[0] ^= std::byte{1};
        EXPECT_NE(decompress(coding, chunk, input), "") << name;
    }
}

/* Any bytes at all, and any change of valid ones: the decoder reports an error or returns other
 * bytes, and does nothing else. (A checksum keeps damaged chunks from getting here.) */
TEST(Codec, StandsWhateverAnLz4ChunkHas)
{
    std::mt19937 chance(5);
    std::vector<std::byte> input(4 * page), back(4 * page), right(8 * page);
    fill_text(input, 3);
    std::size_t size = compress_lz4_chunk(input, right, right.size());
    ASSERT_GT(size, 0u);
    for (int round = 0; round < 20000; round++) {
        std::vector<std::byte> wrong(right.begin(),
                                     right.begin() + static_cast<std::ptrdiff_t>(size));
        for (unsigned i = 0; i <= chance() % 4; i++) {
            wrong[chance() % (round % 2 == 0 ? 16 : size)] =
                static_cast<std::byte>(chance());
        }
        wrong.resize(chance() % 4 == 0 ? chance() % (size + 1) : size);
        decompress_lz4_chunk(wrong, back);
    }
}

/* Other programs' filters make several blocks, one of them uncompressed. */
TEST(Codec, ReadsLz4ChunksOfSeveralBlocks)
{
    std::vector<std::byte> input(3 * page), blocks[3], chunk, back(3 * page);
    fill_text(input, 3);
    fill_random(std::span(input).subspan(page, page), 1);
    for (std::size_t i = 0; i < 3; i++) {
        blocks[i].resize(2 * page);
        std::span own = std::span(input).subspan(i * page, page);
        std::size_t size = compress_lz4_chunk(own, blocks[i], page);
        if (size > 0) {
            blocks[i].resize(size);
        } else { /* header and uncompressed block */
            compress_lz4_chunk(std::span(input).first(page), blocks[i], 2 * page);
            blocks[i].resize(16);
            blocks[i][14] = std::byte{page >> 8};
            blocks[i][15] = std::byte{0};
            blocks[i].insert(blocks[i].end(), own.begin(), own.end());
        }
    }
    chunk.assign(blocks[0].begin(), blocks[0].begin() + 12);
    chunk[6] = std::byte{3 * page >> 8};
    for (const auto &block : blocks) {
        chunk.insert(chunk.end(), block.begin() + 12, block.end());
    }
    EXPECT_EQ(decompress_lz4_chunk(chunk, back), "");
    EXPECT_EQ(back, input);
    chunk.push_back(std::byte{0});
    EXPECT_NE(decompress_lz4_chunk(chunk, back), "");
}

TEST(Bytes, FindsTheOneByteThatIsNotZero)
{
    std::vector<std::byte> bytes(3 * page);
    EXPECT_TRUE(is_all_zero(bytes));
    EXPECT_TRUE(is_all_zero({}));
    for (std::size_t at : {std::size_t{0}, page, bytes.size() - 1}) {
        bytes[at] = std::byte{1};
        EXPECT_FALSE(is_all_zero(bytes)) << at;
        bytes[at] = std::byte{0};
    }
}

TEST(Durations, AreParsed)
{
    using namespace std::chrono_literals;
    EXPECT_EQ(parse_duration("90"), 90s);
    EXPECT_EQ(parse_duration("90s"), 90s);
    EXPECT_EQ(parse_duration("1.5h"), 90min);
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("2d"), 48h);
    for (const char *text : {"", "x", "-1s", "10 m", "5y", "inf", "nan"}) {
        EXPECT_NE(error_of([&] { parse_duration(text); }), "") << text;
    }
}

TEST(Durations, TimesComeBack)
{
    for (std::int64_t time : {std::int64_t{0}, std::int64_t{1'700'000'000'000'000'001},
                              now_nanoseconds()}) {
        EXPECT_EQ(parse_time(format_time(time)), time);
    }
    EXPECT_EQ(format_time(1), "1970-01-01T00:00:00.000000001Z");
    for (const char *text : {"", "1970-01-01", "1970-01-01T00:00:00Z",
                             "1970-01-01T00:00:00.00000000xZ"}) {
        EXPECT_NE(error_of([&] { parse_time(text); }), "") << text;
    }
}

TEST(Durations, TimesThatNanosecondsDoNotReachAreRefused)
{
    EXPECT_EQ(parse_time("2262-04-11T23:47:15.999999999Z"), 9'223'372'035'999'999'999);
    for (const char *text :
         {"2262-04-11T23:47:16.000000000Z", "9999-12-31T23:59:59.999999999Z",
          "1969-12-31T23:59:59.999999999Z", "0970-01-01T00:00:00.000000000Z"}) {
        EXPECT_EQ(error_of([&] { parse_time(text); }), fmt::format("'{}' is not a time", text));
    }
}

TEST(Durations, AreReadable)
{
    EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
    EXPECT_EQ(format_seconds(75), "1 min 15 s");
    EXPECT_EQ(format_seconds(7300), "2 h 1 min");
    EXPECT_EQ(format_bytes(1000), "1000 B");
    EXPECT_EQ(format_bytes(1536), "1.5 KiB");
}
