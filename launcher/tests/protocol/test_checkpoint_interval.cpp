/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_checkpoint_interval.cpp - the interval with which failing jobs end soonest.
 */
#include "protocol/checkpoint_interval.hpp"

#include "common/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ckpt
{

namespace
{

/* Returns the duration of a job with `work` seconds of work and random failures; a restart costs as
 * much as a checkpoint. */
double run_job(double work, double interval, double cost, double mtbf, unsigned seed)
{
    std::mt19937_64 chance(seed);
    std::exponential_distribution<double> until_failure(1 / mtbf);
    double clock = 0, done = 0, failure = until_failure(chance);

    while (done < work) {
        double part = std::min(interval, work - done);
        double needs = part + (done + part < work ? cost : 0);
        if (clock + needs < failure) {
            clock += needs;
            done += part;
        } else {
            clock = failure + cost;
            failure = clock + until_failure(chance);
        }
    }
    return clock;
}

double mean_time(double interval, double cost, double mtbf)
{
    constexpr unsigned runs = 400;
    double sum = 0;

    for (unsigned seed = 0; seed < runs; seed++) {
        sum += run_job(100 * mtbf, interval, cost, mtbf, seed);
    }
    return sum / runs;
}

class Optimum : public testing::TestWithParam<double>
{
};

TEST_P(Optimum, EndsJobsSoonerThanItsNeighbours)
{
    constexpr double mtbf = 1000;
    const double cost = GetParam() * mtbf;
    const double interval = optimal_interval(cost, mtbf);
    const double best = mean_time(interval, cost, mtbf);

    EXPECT_LT(best, mean_time(interval / 2, cost, mtbf));
    EXPECT_LT(best, mean_time(interval * 2, cost, mtbf));
}

INSTANTIATE_TEST_SUITE_P(PartsOfTheMtbf, Optimum,
                         testing::Values(0.0005, 0.005, 0.05, 0.2));

TEST(OptimalInterval, IsYoungsForCheapCheckpoints)
{
    EXPECT_NEAR(optimal_interval(0.001, 86400) / std::sqrt(2 * 0.001 * 86400), 1,
                0.001);
}

TEST(OptimalInterval, IsTheMtbfWhereACheckpointHardlySucceeds)
{
    EXPECT_EQ(optimal_interval(100, 40), 40);
}

TEST(Mtbf, IsADayForANewJob)
{
    EXPECT_EQ(observed_mtbf({}), 86400);
}

TEST(Mtbf, IsWhatLongJobsHaveSeen)
{
    EXPECT_NEAR(observed_mtbf({1e8, 999}), 1e5, 100);
}

TEST(CheckpointInterval, ParsesWhatUsersWrite)
{
    EXPECT_FALSE(CheckpointInterval::parse("0").is_periodic());
    EXPECT_EQ(CheckpointInterval::parse("10m").value().count(), 600);
    EXPECT_TRUE(CheckpointInterval::parse("auto").is_automatic());
    EXPECT_THROW(CheckpointInterval::parse("often"), Error);
}

TEST(CheckpointInterval, StaysAsTheUserSays)
{
    auto interval = CheckpointInterval::parse("10m");

    interval.learn(100);
    interval.observe({10, 10});
    EXPECT_EQ(interval.value().count(), 600);
}

TEST(CheckpointInterval, BeginsSoonToKnowTheCost)
{
    auto interval = CheckpointInterval::parse("auto");

    EXPECT_EQ(interval.value().count(), 60);
    interval.give_mtbf(20);
    EXPECT_EQ(interval.value().count(), 10);
}

TEST(CheckpointInterval, GrowsWithTheCost)
{
    auto interval = CheckpointInterval::parse("auto");

    interval.learn(1);
    const double cheap = interval.value().count();
    EXPECT_NEAR(cheap, optimal_interval(1, 86400), 1e-6);
    interval.learn(9);
    EXPECT_NEAR(interval.value().count(), optimal_interval(5, 86400), 1e-6);
}

TEST(CheckpointInterval, ShrinksWithFailures)
{
    auto interval = CheckpointInterval::parse("auto");

    interval.learn(1);
    const double before = interval.value().count();
    interval.observe({3600, 3});
    EXPECT_NEAR(interval.value().count(), before / 2, before / 20);
    interval.give_mtbf(86400);
    EXPECT_EQ(interval.value().count(), before);
}

TEST(CheckpointInterval, IsNeverLessThanASecond)
{
    auto interval = CheckpointInterval::parse("auto");

    interval.learn(1e-9);
    EXPECT_EQ(interval.value().count(), 1);
}

} // namespace

} // namespace ckpt
