/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rank_counts.cpp - sums and slices of runs, compared with plain vectors.
 */
#include "config.h"
#include "protocol/rank_counts.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ckpt
{

namespace
{

using Dense = std::vector<std::uint64_t>;
using Runs = std::vector<RankCounts::Run>;

constexpr std::uint32_t rank_count = 40;

class Random : public testing::TestWithParam<int>
{
  public:
    std::uint32_t below(std::uint32_t limit)
    {
        return static_cast<std::uint32_t>(generator() % limit);
    }

    /* Few different values, so that neighbours are equal now and then. */
    Dense counts()
    {
        Dense counts(rank_count);
        for (auto &count : counts) {
            count = below(3);
        }
        return counts;
    }

    std::mt19937_64 generator{static_cast<std::uint64_t>(GetParam())};
};

Dense dense(const RankCounts &counts)
{
    Dense result;
    for (std::uint32_t rank = 0; rank < rank_count; rank++) {
        result.push_back(counts.at(rank));
    }
    return result;
}

TEST_P(Random, SumIsThatOfEachRank)
{
    Dense left = counts();
    const Dense right = counts();
    RankCounts sum = RankCounts::dense(left);
    sum += RankCounts::dense(right);
    for (std::uint32_t rank = 0; rank < rank_count; rank++) {
        left[rank] += right[rank];
    }
    EXPECT_EQ(dense(sum), left);
    EXPECT_EQ(sum, RankCounts::dense(left)) << "not in the shortest form";
}

TEST_P(Random, SliceHasItsRanksOnly)
{
    Dense all = counts();
    const std::uint32_t begin = below(rank_count);
    const std::uint32_t end = begin + below(rank_count + 1 - begin);
    const RankCounts slice = RankCounts::dense(all).slice(begin, end);
    for (std::uint32_t rank = 0; rank < rank_count; rank++) {
        all[rank] = rank >= begin && rank < end ? all[rank] : 0;
    }
    EXPECT_EQ(dense(slice), all);
    EXPECT_EQ(slice, RankCounts::dense(all));
}

TEST_P(Random, RunsAreAddedUpInAnyOrder)
{
    Dense expected(rank_count);
    Runs runs;
    for (int i = 0; i < 12; i++) {
        const std::uint32_t begin = below(rank_count);
        const std::uint32_t end = begin + below(rank_count + 1 - begin);
        runs.push_back({begin, end, below(3)});
        for (std::uint32_t rank = begin; rank < end; rank++) {
            expected[rank] += runs.back().value;
        }
    }
    EXPECT_EQ(RankCounts(runs), RankCounts::dense(expected));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(0, 50));

TEST(RankCounts, EqualNeighboursAreOneRun)
{
    const RankCounts counts = RankCounts::dense({4, 4, 0, 4, 5, 5});
    EXPECT_EQ(counts.runs(), (Runs{{0, 2, 4}, {3, 4, 4}, {4, 6, 5}}));
    EXPECT_EQ(counts.total(), 22U);
    EXPECT_EQ(counts.begin(), 0U);
    EXPECT_EQ(counts.end(), 6U);
}

TEST(RankCounts, NothingIsNothing)
{
    RankCounts counts;
    counts += RankCounts();
    EXPECT_EQ(counts, RankCounts(Runs{{3, 3, 7}, {4, 5, 0}}));
    EXPECT_EQ(counts.total(), 0U);
    EXPECT_EQ(counts.end(), 0U);
    EXPECT_EQ(counts.at(0), 0U);
}

} // namespace

} // namespace ckpt
