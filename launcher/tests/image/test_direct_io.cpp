/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_direct_io.cpp - node files whose chunks bypassed the page cache.
 */
#include "config.h"
#include "image/io/direct_io.hpp"

#include "common/switch.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/memory/remote_memory.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

constexpr std::size_t large = 5 * mebibyte + 3 * page, small = 7 * page;

class DirectFile : public testing::TestWithParam<const char *>
{
};

INSTANTIATE_TEST_SUITE_P(Codec, DirectFile, testing::Values("none", "lz4", "zstd"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace

TEST(DirectIo, TakesWholeBlocksOfLargeChunks)
{
    const AlignedBuffer buffer = make_aligned_buffer(mebibyte + 1);
    const std::span chunk(buffer.get(), mebibyte + 1);
    EXPECT_EQ(direct_part(chunk, 0), mebibyte);
    EXPECT_EQ(direct_part(chunk, page), mebibyte);
    EXPECT_EQ(direct_part(chunk, page + 1), 0u);
    EXPECT_EQ(direct_part(chunk.subspan(1), 0), 0u);
    EXPECT_EQ(direct_part(chunk.first(least_direct - 1), 0), 0u);
    EXPECT_THROW(switch_from("perhaps"), Error);
}

/* Text compresses to sizes that are not whole blocks. */
TEST_P(DirectFile, ComesBack)
{
    ChildProcess child([](Description &own) {
        auto memory = own.map(large);
        fill_text(memory.first(3 * mebibyte), 5);
        fill_random(memory.subspan(3 * mebibyte), 6);
        fill_text(own.map(small), 7);
    });
    ScratchDirectory scratch;
    WriterOptions options;
    options.codec = Codec::parse(GetParam());
    options.is_direct = true;
    NodeFileWriter writer(scratch.path(), "n1", options);
    writer.capture(child.pid(), child.snapshot());
    const std::string path = scratch / writer.commit().file;
    const NodeFileReader reader(path);
    reader.verify();
    const RankImage &image = reader.rank(0);
    for (std::size_t i = 0; i < image.regions.size(); i++) {
        if (image.length(i) != large && image.length(i) != small) {
            continue;
        }
        std::vector<std::byte> saved(image.length(i)), memory(image.length(i));
        reader.read_region(0, i, saved);
        RemoteMemory(child.pid()).read_file_mapping(image.regions[i].start, memory, 0);
        EXPECT_TRUE(saved == memory) << i;
    }
    const auto is_aligned = [](const ChunkRecord &chunk) {
        return chunk.size < least_direct || chunk.offset % direct_alignment == 0;
    };
    EXPECT_TRUE(std::ranges::all_of(image.chunks, is_aligned) || !open_direct(path));
}
