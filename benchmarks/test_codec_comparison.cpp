/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_codec_comparison.cpp - which parts of a node file the codecs compress,
 * and how the results are counted.
 */
#include "codec_comparison.hpp"

#include "image/write/node_file_writer.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <functional>
#include <string>
#include <vector>

using namespace ckpt;
using namespace ckpt::bench;
using namespace ckpt::test;

namespace
{

/* Compares the codecs on the memory of a process made by `prepare`. */
class CodecComparisonTest : public ::testing::Test
{
  protected:
    void compare(const std::function<void(Description &)> &prepare)
    {
        ScratchDirectory directory;
        ChildProcess child(prepare);
        NodeFileWriter writer(directory.path(), "n1", {});
        writer.capture(child.pid(), child.snapshot());
        NodeFileReader reader(directory / writer.commit().file);
        comparison_.add_rank(reader, reader.ranks().front());
    }

    const CodecResult &result(std::size_t codec) const
    {
        return comparison_.results()[codec];
    }

    CodecComparison comparison_{1};
};

} // namespace

TEST_F(CodecComparisonTest, ComparesTheCodecOf1993WithThreeOthers)
{
    std::vector<std::string> names;
    for (const auto &codec : comparison_.codecs()) {
        names.push_back(codec->name());
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"1993", "lz4", "zstd:1", "zstd:3"}));
}

TEST_F(CodecComparisonTest, CountsContentAndZerosApart)
{
    compare([](Description &description) {
        fill_text(description.map(2 * mebibyte), 1);
        (void)description.map(3 * mebibyte + page);
    });
    for (std::size_t i = 0; i < comparison_.codecs().size(); i++) {
        EXPECT_EQ(result(i).content.chunks, 2u);
        EXPECT_EQ(result(i).content.bytes, 2 * mebibyte);
        EXPECT_GT(result(i).content.bytes_left, 0u);
        EXPECT_LT(result(i).content.bytes_left, mebibyte / 4);
        EXPECT_EQ(result(i).zeros.chunks, 4u);
        EXPECT_EQ(result(i).zeros.bytes, 3 * mebibyte + page);
    }
}

/* Three times: a run of 1 MiB, 42 bits, and a run of a page, 26 bits. */
TEST_F(CodecComparisonTest, ZerosCostOnlyTheCodecOf1993)
{
    compare([](Description &description) {
        (void)description.map(3 * mebibyte + page);
    });
    EXPECT_EQ(result(0).zeros.bytes_left, 3u * 6 + 4);
    for (std::size_t i = 1; i < comparison_.codecs().size(); i++) {
        EXPECT_EQ(result(i).zeros.bytes_left, 0u);
    }
}

TEST_F(CodecComparisonTest, LeavesOutAddressSpaceThatIsSetAside)
{
    compare([](Description &description) {
        (void)description.map(2 * mebibyte, PROT_NONE);
    });
    EXPECT_EQ(result(0).content.bytes + result(0).zeros.bytes, 0u);
}

TEST_F(CodecComparisonTest, LeavesAsItIsOnlyWhatTodaysCodecsCannotShrink)
{
    compare([](Description &description) {
        fill_random(description.map(mebibyte), 1);
    });
    EXPECT_GT(result(0).content.bytes_left, mebibyte);
    for (std::size_t i = 1; i < comparison_.codecs().size(); i++) {
        EXPECT_EQ(result(i).content.bytes_left, mebibyte);
    }
}
