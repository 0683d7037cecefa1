/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_simulated_jobs.cpp - the coordinator with random jobs.
 */
#include "config.h"
#include "tests/simulator/simulated_job.hpp"

#include <gtest/gtest.h>

namespace ckpt::test
{

/*
 * Random programs with messages and overlapping communicators, and checkpoints
 * at random moments, some of which fail. Every saved cut is consistent (see
 * SimulatedJob::check_cut), and every program comes to its end.
 */
TEST(SimulatedJobs, EveryCutIsConsistentAndEveryJobEnds)
{
    constexpr unsigned seeds = 1000;
    int committed = 0, given_up = 0, saved_inside = 0, begun_again = 0;
    int runs = 0;

    for (unsigned seed = 0; seed < seeds; seed++) {
        test::SimulatedJob job(seed);
        ASSERT_EQ(job.run(), "") << "seed " << seed;
        committed += job.committed();
        given_up += job.given_up();
        saved_inside += job.saved_inside();
        begun_again += job.begun_again();
        runs += job.runs_ordered();
    }
    /* The interesting cases did occur. */
    EXPECT_GT(committed, 1000);
    EXPECT_GT(given_up, 500);
    EXPECT_GT(saved_inside, 500);
    EXPECT_GT(begun_again, 500);
    EXPECT_GT(runs, 5000);
}

} // namespace ckpt::test
