/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_excluded.cpp - the table of memory that is not saved, compared with a set of pages.
 */
extern "C" {
#include "user/excluded.h"
}

#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace
{

constexpr std::uint64_t page = 4096;

using Pages = std::set<std::uint64_t>;

std::vector<ckpt_range> ranges()
{
    const ckpt_range *first;
    const std::size_t count = ckpt_excluded_ranges(&first);
    return {first, first + count};
}

Pages pages()
{
    Pages found;
    for (const ckpt_range &range : ranges()) {
        for (std::uint64_t at = range.start; at < range.end; at += page) {
            found.insert(at / page);
        }
    }
    return found;
}

class Excluded : public testing::Test
{
  protected:
    void TearDown() override { EXPECT_EQ(ckpt_excluded_remove(0, ~page), 0); }
};

TEST_F(Excluded, OnlyWholePagesOfWhatIsNotSaved)
{
    EXPECT_EQ(ckpt_excluded_add(10 * page + 1, 2 * page), 0);
    EXPECT_EQ(pages(), Pages({11}));
    EXPECT_EQ(ckpt_excluded_add(20 * page, page - 1), 0);
    EXPECT_EQ(pages(), Pages({11}));
    EXPECT_EQ(ckpt_excluded_add(30 * page, 0), 0);
    EXPECT_EQ(pages(), Pages({11}));
}

TEST_F(Excluded, EachPageOfWhatIsSavedAgain)
{
    EXPECT_EQ(ckpt_excluded_add(10 * page, 5 * page), 0);
    EXPECT_EQ(ckpt_excluded_remove(12 * page + 7, 1), 0);
    EXPECT_EQ(pages(), Pages({10, 11, 13, 14}));
    EXPECT_EQ(ckpt_excluded_remove(10 * page, 0), 0);
    EXPECT_EQ(pages(), Pages({10, 11, 13, 14}));
}

TEST_F(Excluded, NeighboursAreOneRange)
{
    EXPECT_EQ(ckpt_excluded_add(10 * page, page), 0);
    EXPECT_EQ(ckpt_excluded_add(12 * page, page), 0);
    EXPECT_EQ(ranges().size(), 2u);
    EXPECT_EQ(ckpt_excluded_add(11 * page, page), 0);
    ASSERT_EQ(ranges().size(), 1u);
    EXPECT_STREQ(ckpt_excluded_text(), "a000-d000");
}

TEST_F(Excluded, TextHasAllRanges)
{
    EXPECT_STREQ(ckpt_excluded_text(), "");
    EXPECT_EQ(ckpt_excluded_add(0x7fffffff0000, 2 * page), 0);
    EXPECT_EQ(ckpt_excluded_add(16 * page, page), 0);
    EXPECT_STREQ(ckpt_excluded_text(), "10000-11000 7fffffff0000-7fffffff2000");
}

TEST_F(Excluded, WhatDoesNotFitChangesNothing)
{
    for (std::uint64_t i = 0; i < CKPT_EXCLUDED_CAPACITY; i++) {
        ASSERT_EQ(ckpt_excluded_add(2 * i * page, page), 0);
    }
    EXPECT_EQ(ckpt_excluded_add(2 * CKPT_EXCLUDED_CAPACITY * page, page), -ENOSPC);
    EXPECT_EQ(ranges().size(), std::size_t(CKPT_EXCLUDED_CAPACITY));
    EXPECT_EQ(ckpt_excluded_add(page, page), 0); /* joins two */
    EXPECT_EQ(ranges().size(), std::size_t(CKPT_EXCLUDED_CAPACITY - 1));
    EXPECT_GT(std::string(ckpt_excluded_text()).size(), 4u * CKPT_EXCLUDED_CAPACITY);
    EXPECT_EQ(ckpt_excluded_add(2 * CKPT_EXCLUDED_CAPACITY * page, page), 0);
    EXPECT_EQ(ckpt_excluded_add(3 * page, page), 0);
    EXPECT_EQ(ckpt_excluded_add(8 * CKPT_EXCLUDED_CAPACITY * page, 3 * page), 0);
    const std::size_t before = pages().size();
    EXPECT_EQ(ckpt_excluded_remove((8 * CKPT_EXCLUDED_CAPACITY + 1) * page, 1), -ENOSPC);
    /* This range is excluded already. */
    EXPECT_EQ(pages().size(), before);
}

TEST_F(Excluded, AnyOrderOfChanges)
{
    std::mt19937 random(1);
    Pages expected;
    for (int i = 0; i < 20000; i++) {
        const std::uint64_t first = random() % 200, count = random() % 30;
        const bool adds = random() % 2 == 0;
        auto change = adds ? ckpt_excluded_add : ckpt_excluded_remove;
        ASSERT_EQ(change(first * page, count * page), 0);
        for (std::uint64_t at = first; at < first + count; at++) {
            adds ? (void)expected.insert(at) : (void)expected.erase(at);
        }
        ASSERT_EQ(pages(), expected) << i;
        for (std::size_t k = 1; k < ranges().size(); k++) {
            ASSERT_GT(ranges()[k].start, ranges()[k - 1].end);
        }
    }
}

} // namespace
