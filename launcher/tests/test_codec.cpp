/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_codec.cpp - codecs by name, compression there and back.
 */
#include "config.h"
#include "image/codec.hpp"

#include "common/bytes.hpp"
#include "common/durations.hpp"
#include "tests/child_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace ckpt;
using namespace ckpt::test;

TEST(Codec, IsParsedFromItsName)
{
    EXPECT_EQ(Codec::parse("none").kind, Codec::Kind::none);
    EXPECT_EQ(Codec::parse("zstd").text(), "zstd:1");
    EXPECT_EQ(Codec::parse("zstd:19").level, 19);
    EXPECT_EQ(Codec::parse("zstd:-7").text(), "zstd:-7");
}

TEST(Codec, RefusesOtherNames)
{
    for (const char *name :
         {"", "gzip", "zstd:", "zstd:x", "zstd:3x", "zstd:99", "ZSTD"}) {
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
    for (const char *name : {"zstd:-5", "zstd", "zstd:9"}) {
        Compressor compressor(Codec::parse(name));
        std::size_t size = compressor.compress(input, output);
        ASSERT_GT(size, 0u) << name;
        EXPECT_LT(size, input.size() / 10) << name;
        std::vector<std::byte> back(mebibyte);
        EXPECT_EQ(decompress(std::span(output).first(size), back), "");
        EXPECT_EQ(back, input) << name;
    }
}

TEST(Codec, LeavesWhatDoesNotCompress)
{
    std::vector<std::byte> input(mebibyte);
    std::vector<std::byte> output(mebibyte);
    fill_random(input, 1);
    EXPECT_EQ(Compressor(Codec::parse("zstd")).compress(input, output), 0u);
    fill_text(input, 1);
    EXPECT_EQ(Compressor(Codec::parse("none")).compress(input, output), 0u);
}

TEST(Codec, SaysWhyAFrameIsWrong)
{
    std::vector<std::byte> input(mebibyte);
    std::vector<std::byte> output(mebibyte);
    fill_text(input, 3);
    std::size_t size =
        Compressor(Codec::parse("zstd")).compress(input, output);
    std::span frame = std::span(output).first(size);
    std::vector<std::byte> longer(mebibyte + page);
    EXPECT_NE(decompress(frame, longer), "");
    std::vector<std::byte> shorter(page);
    EXPECT_NE(decompress(frame, shorter), "");
    EXPECT_NE(decompress(frame.first(size / 2), input), "");
    output[0] ^= std::byte{1};
    EXPECT_NE(decompress(frame, input), "");
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

TEST(Durations, AreReadable)
{
    EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
    EXPECT_EQ(format_seconds(75), "1 min 15 s");
    EXPECT_EQ(format_seconds(7300), "2 h 1 min");
    EXPECT_EQ(format_bytes(1000), "1000 B");
    EXPECT_EQ(format_bytes(1536), "1.5 KiB");
}
