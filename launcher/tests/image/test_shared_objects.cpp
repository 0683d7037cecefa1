/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_shared_objects.cpp - which rank saves which part of shared memory.
 */
#include "common/error.hpp"
#include "image/memory/shared_objects.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace
{

using ckpt::RankImage;
using ckpt::SharedObjects;

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t inode = 77;

ckpt_string_t add_text(RankImage &image, const std::string &text)
{
    auto at = static_cast<ckpt_string_t>(image.strings.size());
    image.strings.insert(image.strings.end(), text.c_str(),
                         text.c_str() + text.size() + 1);
    return at;
}

/* A rank that has mapped pages [first, last) of the object. */
RankImage rank_with(std::uint32_t kind, std::uint64_t first,
                    std::uint64_t last)
{
    RankImage image;
    ckpt_region region{};
    image.strings.push_back('\0');
    region.start = 16 * page;
    region.end = region.start + (last - first) * page;
    region.file_offset = first * page;
    region.kind = kind;
    region.inode = inode;
    region.device = kind == CKPT_REGION_SHARED ? 4 * page : 5;
    region.mode = kind == CKPT_REGION_SHARED ? 0640 : 0;
    region.path = add_text(image, "/dev/shm/object");
    image.regions.push_back(region);
    return image;
}

/* Surveys all ranks and distributes what they share. */
template <typename... Images>
void share(SharedObjects &objects, Images &...all)
{
    int rank = 0;
    (objects.survey(all, rank++), ...);
    (objects.distribute(all), ...);
}

TEST(SharedObjects, AreSavedOnce)
{
    SharedObjects objects;
    RankImage part = rank_with(CKPT_REGION_SHARED, 1, 2);
    RankImage whole = rank_with(CKPT_REGION_SHARED, 0, 4);
    RankImage other = rank_with(CKPT_REGION_SHARED, 2, 4);
    share(objects, part, whole, other);
    EXPECT_EQ(part.regions[0].kind, unsigned(CKPT_REGION_SHARED));
    EXPECT_EQ(whole.regions[0].kind, unsigned(CKPT_REGION_SHARED));
    EXPECT_EQ(other.regions[0].kind, unsigned(CKPT_REGION_SHARED_ELSEWHERE));
    for (const RankImage *image : {&part, &whole, &other}) {
        EXPECT_EQ(image->regions[0].sharers, 3);
    }
    EXPECT_TRUE(objects.any() && objects.shares(0) && objects.shares(2));
}

TEST(SharedObjects, OneWhoReadsSharesThem)
{
    SharedObjects objects;
    RankImage reader = rank_with(CKPT_REGION_FILE_SHARED, 0, 2);
    RankImage writer = rank_with(CKPT_REGION_SHARED, 0, 2);
    share(objects, reader, writer);
    EXPECT_EQ(reader.regions[0].kind, unsigned(CKPT_REGION_SHARED));
    EXPECT_EQ(reader.regions[0].device, 4 * page);
    EXPECT_EQ(reader.regions[0].mode, 0640);
    EXPECT_EQ(writer.regions[0].kind, unsigned(CKPT_REGION_SHARED_ELSEWHERE));
}

TEST(SharedObjects, PrivateMemoryOfThemIsSavedWhole)
{
    SharedObjects objects;
    RankImage copy = rank_with(CKPT_REGION_FILE, 0, 2);
    RankImage writer = rank_with(CKPT_REGION_SHARED, 0, 2);
    share(objects, copy, writer);
    EXPECT_EQ(copy.regions[0].kind, unsigned(CKPT_REGION_FILE));
    EXPECT_EQ(copy.regions[0].device, 0u); /* saved by content */
    EXPECT_EQ(writer.regions[0].sharers, 0);
    EXPECT_FALSE(objects.any());
}

TEST(SharedObjects, FilesThatNobodyWritesToStayAsTheyAre)
{
    SharedObjects objects;
    RankImage first = rank_with(CKPT_REGION_FILE_SHARED, 0, 2);
    RankImage second = rank_with(CKPT_REGION_FILE_SHARED, 0, 2);
    const ckpt_region before = first.regions[0];
    share(objects, first, second);
    EXPECT_EQ(std::memcmp(&before, &first.regions[0], sizeof(before)), 0);
    EXPECT_FALSE(objects.any());
}

TEST(SharedObjects, AFileWithoutANameIsSharedByDescriptors)
{
    SharedObjects objects;
    RankImage mapped = rank_with(CKPT_REGION_SHARED, 0, 2);
    RankImage open;
    ckpt_file file{};
    open.strings.push_back('\0');
    file.kind = CKPT_FILE_MEMFD;
    file.inode = inode;
    file.path = add_text(open, "/dev/shm/object");
    open.files.push_back(file);
    share(objects, mapped, open);
    EXPECT_EQ(open.files[0].sharers, 2u);
    EXPECT_EQ(mapped.regions[0].sharers, 2);
}

} // namespace
