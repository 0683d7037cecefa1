/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_missing_pages.cpp - the list of missing pages, compared with a list of single pages.
 */
#include "config.h"
#include "restart/missing_pages.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace ckpt;
using namespace ckpt::restart;

namespace
{

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t block = 4 * page;

ckpt_range pages(std::uint64_t first, std::uint64_t end)
{
    return {first * page, end * page};
}

MissingPages of_two_regions()
{
    MissingPages missing(block);
    missing.add(pages(10, 30), {pages(11, 20), pages(22, 30)});
    missing.add(pages(50, 53), {pages(50, 53)});
    return missing;
}

TEST(MissingPages, PiecesDoNotCrossBlocksOfTheirRegion)
{
    const MissingPages missing = of_two_regions();
    const auto first = missing.at(11 * page + 5);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->address, 11 * page);
    EXPECT_EQ(first->size, 3 * page); /* the first block is 10 .. 14 */
    EXPECT_EQ(missing.at(15 * page)->address, 14 * page);
    EXPECT_EQ(missing.at(15 * page)->size, block);
    EXPECT_EQ(missing.at(52 * page)->size, 3 * page);
    EXPECT_FALSE(missing.at(10 * page));
    EXPECT_FALSE(missing.at(21 * page));
    EXPECT_FALSE(missing.at(53 * page));
    EXPECT_EQ(missing.bytes(), 20 * page);
}

TEST(MissingPages, NextGoesOnInOrderAndBeginsAgain)
{
    MissingPages missing = of_two_regions();
    EXPECT_EQ(missing.next(0)->address, 11 * page);
    EXPECT_EQ(missing.next(20 * page)->address, 22 * page);
    EXPECT_EQ(missing.next(30 * page)->address, 50 * page);
    EXPECT_EQ(missing.next(99 * page)->address, 11 * page);
    missing.remove(pages(0, 100));
    EXPECT_FALSE(missing.next(0));
    EXPECT_TRUE(missing.empty());
}

TEST(MissingPages, MovedPagesKeepTheirContent)
{
    MissingPages missing = of_two_regions();
    missing.move(12 * page, 51 * page, 2 * page); /* onto missing pages */
    EXPECT_FALSE(missing.at(12 * page));
    EXPECT_FALSE(missing.at(13 * page));
    const auto piece = missing.at(52 * page);
    ASSERT_TRUE(piece);
    EXPECT_EQ(piece->address, 51 * page);
    EXPECT_EQ(piece->saved, 12 * page);
    EXPECT_EQ(piece->size, 2 * page);
    EXPECT_EQ(missing.at(50 * page)->size, page);
}

/* The same with a list of single pages: present page -> saved page. */
class Pages
{
  public:
    explicit Pages(std::uint64_t first, std::uint64_t end)
    {
        for (; first < end; first++) {
            saved_[first] = first;
        }
    }
    void remove(std::uint64_t first, std::uint64_t end)
    {
        saved_.erase(saved_.lower_bound(first), saved_.lower_bound(end));
    }
    void move(std::uint64_t from, std::uint64_t to, std::uint64_t count)
    {
        std::map<std::uint64_t, std::uint64_t> moved;
        for (std::uint64_t i = 0; i < count; i++) {
            if (auto node = saved_.extract(from + i)) {
                moved[to + i] = node.mapped();
            }
        }
        remove(to, to + count);
        saved_.insert(moved.begin(), moved.end());
    }
    void expect_equal(const MissingPages &missing) const
    {
        EXPECT_EQ(missing.bytes(), saved_.size() * page);
        for (std::uint64_t i = 0; i < 200; i++) {
            const auto found = saved_.find(i);
            const auto piece = missing.at(i * page);
            ASSERT_EQ(piece.has_value(), found != saved_.end()) << i;
            if (piece) {
                EXPECT_EQ(piece->saved + (i * page - piece->address), found->second * page);
                EXPECT_EQ((piece->saved - 20 * page) / block,
                          (piece->saved + piece->size - 1 - 20 * page) / block);
            }
        }
    }

  private:
    std::map<std::uint64_t, std::uint64_t> saved_;
};

TEST(MissingPages, AgreesWithSinglePages)
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; round++) {
        MissingPages missing(block);
        missing.add(pages(20, 80), {pages(20, 80)});
        Pages model(20, 80);
        for (int step = 0; step < 12; step++) {
            const std::uint64_t from = random() % 100, count = 1 + random() % 15;
            if (random() % 2 == 0) {
                missing.remove(pages(from, from + count));
                model.remove(from, from + count);
            } else {
                const std::uint64_t to = from + count + random() % 60;
                missing.move(from * page, to * page, count * page);
                model.move(from, to, count);
            }
            model.expect_equal(missing);
        }
    }
}

} // namespace
