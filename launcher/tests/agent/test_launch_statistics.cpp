/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_launch_statistics.cpp - how the checkpoints of a launch ended, as `ckpt status` shows it.
 */
#include "agent/coordinator/launch_statistics.hpp"

#include "common/durations.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using namespace std::chrono_literals;

namespace
{

const Refusal no_space(CKPT_REFUSAL_NO_SPACE, "no room");
const Refusal died(CKPT_REFUSAL_RANK_DIED, "rank 3 has died");

class Launch : public testing::Test
{
  protected:
    static constexpr auto interval = 60s;
    const LaunchStatistics::Time begin_{1000s};
    LaunchStatistics launch_{true};

    static control::Status status(const LaunchStatistics &launch, LaunchStatistics::Time now)
    {
        control::Status status;
        launch.fill(status, now);
        return status;
    }
    control::Status status() const { return status(launch_, begin_); }
    Milestones milestones() const
    {
        Milestones reached;
        launch_.fill(reached);
        return reached;
    }
};

TEST_F(Launch, AddsUpItsCheckpointsAndKeepsTheLatest)
{
    control::Result result;
    result.bytes = 10;
    result.memory_bytes = 100;
    result.timings.total = 0.5;
    result.timings.stop = 0.25;
    result.name = "job/1";
    const double before = static_cast<double>(now_nanoseconds()) * 1e-9;

    EXPECT_EQ(0, status().last_at);
    launch_.count_committed(result);
    result.name = "job/2";
    result.bytes = 30;
    launch_.count_committed(result);
    const control::Status now = status();
    EXPECT_EQ(2u, now.committed);
    EXPECT_EQ(0u, now.failed);
    EXPECT_EQ("job/2", now.last.name);
    EXPECT_GE(now.last_at, before);
    EXPECT_EQ(40u, now.totals.bytes);
    EXPECT_EQ(200u, now.totals.memory_bytes);
    EXPECT_EQ(1.0, now.totals.seconds);
    EXPECT_EQ(0.5, now.totals.stopped);
    EXPECT_EQ(2u, milestones().committed);
}

TEST_F(Launch, CountsFailuresAndTheReasonsOfRefusals)
{
    launch_.count_failed(no_space);
    launch_.count_refusal(no_space);
    launch_.count_refusal(died); /* a request that began no checkpoint */
    launch_.count_refusal(died);
    const control::Status now = status();
    EXPECT_EQ(1u, now.failed);
    EXPECT_EQ("no room", now.last_error);
    EXPECT_EQ(no_space.name(), now.last_refusal);
    EXPECT_EQ((RefusalCounts{{no_space.name(), 1}, {died.name(), 2}}), now.refusals);
    EXPECT_EQ(1u, milestones().failed);
    EXPECT_FALSE(milestones().is_unprotected); /* that was not noted */
}

TEST_F(Launch, ReportsSinceWhenItIsUnprotected)
{
    EXPECT_EQ(0, status().unprotected_since);
    launch_.note_unprotected(no_space, begin_);
    const double wall = static_cast<double>(now_nanoseconds()) * 1e-9;
    EXPECT_NEAR(wall - 7, status(launch_, begin_ + 7s).unprotected_since, 5);
    EXPECT_TRUE(milestones().is_unprotected);
    const auto told = launch_.news(false, begin_, interval);
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->is_unprotected);
    EXPECT_EQ(no_space.text(), told->why);
    launch_.count_committed({});
    EXPECT_EQ(0, status().unprotected_since);
    EXPECT_FALSE(milestones().is_unprotected);
}

TEST_F(Launch, IsNotProtectedByCheckpointsOnRequest)
{
    LaunchStatistics launch(false);
    launch.attempt_begins(begin_);
    launch.note_unprotected(no_space, begin_);
    launch.give_up(died, begin_);
    EXPECT_FALSE(launch.news(true, begin_ + 1000s, interval));
    EXPECT_EQ(0, status(launch, begin_).unprotected_since);
    EXPECT_EQ(died.name(), status(launch, begin_).last_refusal);
}

TEST_F(Launch, GivesUpWithoutAFailedCheckpoint)
{
    launch_.give_up(died, begin_);
    EXPECT_EQ(0u, status().failed);
    EXPECT_EQ(died.name(), status().last_refusal);
    EXPECT_TRUE(milestones().is_unprotected);
}

TEST_F(Launch, ARepetitionBeginsWithTheFirstAttempt)
{
    launch_.attempt_begins(begin_);
    launch_.attempt_begins(begin_ + 50s);
    EXPECT_FALSE(launch_.news(true, begin_ + 59s, interval));
    EXPECT_FALSE(launch_.news(false, begin_ + 60s, interval)); /* the ranks are saved */
    EXPECT_TRUE(launch_.news(true, begin_ + 60s, interval));
}

TEST_F(Launch, TheNextAttemptBeginsAnew)
{
    launch_.attempt_begins(begin_);
    launch_.attempt_is_over();
    EXPECT_FALSE(launch_.news(true, begin_ + 100s, interval));
    launch_.attempt_begins(begin_ + 100s);
    EXPECT_FALSE(launch_.news(true, begin_ + 159s, interval));
    EXPECT_TRUE(launch_.news(true, begin_ + 160s, interval));
}

TEST_F(Launch, NotesTheAttemptsOfARequestWithoutRepetitions)
{
    launch_.note_attempt(no_space);
    launch_.note_attempt(no_space);
    launch_.note_attempt(died);
    launch_.note_attempt(no_space);
    EXPECT_EQ((std::vector<Refusal>{no_space, died, no_space}), launch_.earlier_attempts());
    launch_.request_is_over();
    EXPECT_TRUE(launch_.earlier_attempts().empty());
}

/* A request may wait for hours: the record of the checkpoint stays small. */
TEST_F(Launch, NotesTheFirstAttemptsOfALongRequest)
{
    for (int i = 0; i < 100; i++) {
        launch_.note_attempt(refusal(CKPT_REFUSAL_RANK_DIED, "attempt {}", i));
    }
    ASSERT_EQ(16u, launch_.earlier_attempts().size());
    EXPECT_EQ("attempt 0", launch_.earlier_attempts().front().detail());
    EXPECT_EQ("attempt 15", launch_.earlier_attempts().back().detail());
}

} // namespace
