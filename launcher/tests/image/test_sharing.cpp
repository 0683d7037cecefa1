/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sharing.cpp - pages that several ranks have in common are stored once, and restored to each.
 */
#include "config.h"
#include "image/memory/page_sharing.hpp"

#include "image/nodefile/node_file_reader.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/nodefile/shared_pages.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

using Extent = PageSharing::Extent;

constexpr std::size_t common = 2 * mebibyte, own = mebibyte;
constexpr std::size_t shift = 3 * page; /* another place than in the other rank */

/* Memory that both ranks have, at different places in it; in between the same pages again, zeros,
 * and pages of this rank alone. */
std::vector<std::byte> content_of_rank(int rank)
{
    std::vector<std::byte> content(own + common + 2 * mebibyte);
    const std::size_t at = own + static_cast<std::size_t>(rank) * shift;
    fill_random(std::span(content).first(own), 10 + static_cast<unsigned>(rank));
    fill_random(std::span(content).subspan(at, common), 1);
    std::copy_n(&content[at], mebibyte / 2, &content[at + common + 5 * page]);
    return content;
}

class Sharing : public testing::TestWithParam<std::tuple<const char *, SnapshotMethod>>
{
  protected:
    Piece save(SharingChoice &choice)
    {
        WriterOptions options;
        options.codec = Codec::parse(std::get<0>(GetParam()));
        options.snapshot = std::get<1>(GetParam());
        options.sharing = &choice;
        NodeFileWriter writer(scratch.path(), "n1", options);
        writer.capture(first.pid(), first.snapshot());
        writer.capture(second.pid(), second.snapshot());
        return writer.commit();
    }

    void expect_content(const NodeFileReader &reader, int rank) const
    {
        const std::vector<std::byte> expected = content_of_rank(rank);
        const auto &regions = reader.rank(rank).regions;
        auto found = std::ranges::find_if(regions, [&](const ckpt_region &region) {
            return region.end - region.start == expected.size();
        });
        ASSERT_NE(found, regions.end());
        std::vector<std::byte> content(expected.size());
        reader.read_region(rank, static_cast<std::size_t>(found - regions.begin()),
                           content);
        EXPECT_TRUE(content == expected);

        const std::uint64_t from = own + common - 7 * page, length = 30 * page;
        std::vector<std::byte> part(length);
        const MemoryPlace place{found->start + from, part};
        reader.read_pages(rank, {&place, 1});
        EXPECT_TRUE(std::ranges::equal(part, std::span(expected).subspan(from, length)));
    }

    static std::uint64_t shared_of(const NodeFileReader &reader, int rank)
    {
        return length_of(shared_ranges(reader.rank(rank)));
    }

    static void prepare(Description &description, int rank)
    {
        const std::vector<std::byte> content = content_of_rank(rank);
        std::ranges::copy(content, description.map(content.size()).begin());
        description.snapshot.rank = rank;
        description.snapshot.rank_count = 2;
    }

    ScratchDirectory scratch;
    ChildProcess first{[](Description &description) { prepare(description, 0); }};
    ChildProcess second{[](Description &description) { prepare(description, 1); }};
};

INSTANTIATE_TEST_SUITE_P(
    All, Sharing,
    testing::Combine(testing::Values("none", "zstd"),
                     testing::Values(SnapshotMethod::stop, SnapshotMethod::memory)),
    [](const auto &info) {
        return std::string(std::get<0>(info.param)) + "_" +
               snapshot_method_name(std::get<1>(info.param));
    });

/* An image with one region of private memory, [64K, 128K). */
RankImage image_with(const std::vector<SharedRun> &runs)
{
    RankImage image;
    ckpt_region region = {};
    region.start = 1u << 16;
    region.end = 1u << 17;
    region.kind = CKPT_REGION_ANONYMOUS;
    image.regions.push_back(region);
    image.shared_runs = runs;
    return image;
}

/* Returns the reason why these runs of rank 1 are refused; rank 0 shares nothing. */
std::string verdict(const std::vector<SharedRun> &runs)
{
    const std::map<int, RankImage> ranks{{0, image_with({})}, {1, image_with(runs)}};
    return error_of([&] {
        require_sane_shared_runs(ranks.at(1), "rank 1");
        require_shared_places(ranks);
    });
}

} // namespace

TEST_P(Sharing, PagesComeBack)
{
    SharingChoice choice(Switch::on);
    const Piece piece = save(choice);
    const NodeFileReader reader(scratch / piece.file);
    reader.verify();
    expect_content(reader, 0);
    expect_content(reader, 1);
    EXPECT_GE(shared_of(reader, 0) + shared_of(reader, 1), common + mebibyte);
    /* Of 7 MiB. Uncompressed chunks that are partly shared are stored whole. */
    EXPECT_LT(piece.bytes, 2 * own + common + 2 * mebibyte);
}

/* A folded copy, or one made in another way, has all pages in their own places again. */
TEST_P(Sharing, ACopyIsWhole)
{
    SharingChoice choice(Switch::on);
    const NodeFileReader reader(scratch / save(choice).file);
    WriterOptions options;
    options.file = "copy.h5";
    NodeFileWriter writer(scratch.path(), "n1", options);
    writer.copy(reader, 0);
    writer.copy(reader, 1);
    const NodeFileReader copy(scratch / writer.commit().file);
    copy.verify();
    for (int rank : {0, 1}) {
        expect_content(copy, rank);
        EXPECT_EQ(shared_of(copy, rank), 0);
    }
}

/* With `auto`, the first file is written as without sharing; it suffices to see that sharing is
 * worthwhile. */
TEST_P(Sharing, IsLearntFromASample)
{
    SharingChoice choice(Switch::automatic);
    {
        const NodeFileReader reader(scratch / save(choice).file);
        EXPECT_EQ(shared_of(reader, 0) + shared_of(reader, 1), 0);
        expect_content(reader, 1);
    }
    const NodeFileReader reader(scratch / save(choice).file);
    EXPECT_GE(shared_of(reader, 0) + shared_of(reader, 1), common);
    expect_content(reader, 1);
}

TEST(SharingChoice, FollowsWhatIsFound)
{
    SharingChoice choice(Switch::automatic);
    EXPECT_EQ(choice.next(), Extent::sample);
    choice.learn({1600, 99});
    EXPECT_EQ(choice.next(), Extent::sample);
    choice.learn({1600, 100});
    EXPECT_EQ(choice.next(), Extent::all);
    choice.learn({160000, 9000});
    EXPECT_EQ(choice.next(), Extent::sample);
    choice.learn({0, 0});
    EXPECT_EQ(choice.next(), Extent::sample);
    EXPECT_EQ(SharingChoice(switch_from("on")).next(), Extent::all);
    EXPECT_EQ(SharingChoice(switch_from("off")).next(), std::nullopt);
    EXPECT_THROW(switch_from("sometimes"), Error);
}

TEST(SharedRuns, ThatCannotBeAreRefused)
{
    const std::uint64_t start = 1u << 16, end = 1u << 17;
    EXPECT_EQ(verdict({{start, start + 2 * page, start, 0, 0}}), "");
    EXPECT_EQ(verdict({{start, start + page, start + 5 * page, 1, 0}}), "");
    const std::vector<std::vector<SharedRun>> wrong{
        {{start, start, start, 0, 0}},
        {{start + 1, start + page, start, 0, 0}},
        {{start, start + page, start + 1, 0, 0}},
        {{start + page, start + 2 * page, start, 0, 0}, {start, start + page, start, 0, 0}},
        {{start - page, start, start, 0, 0}}, /* not memory of this rank */
        {{end, end + page, start, 0, 0}},
        {{start, start + page, end, 0, 0}},            /* not of the other rank */
        {{start, start + 2 * page, end - page, 0, 0}}, /* its end is not either */
        {{start, start + page, ~std::uint64_t{0xfff}, 0, 0}},
        {{start, start + page, start, 2, 0}},       /* no such rank */
        {{start, start + page, start, 1, 0}},       /* itself */
        {{start, start + page, start + page, 1, 0}, /* shared itself */
         {start + page, start + 2 * page, start, 0, 0}},
    };
    for (const auto &runs : wrong) {
        EXPECT_NE(verdict(runs), "") << &runs - wrong.data();
    }
}
