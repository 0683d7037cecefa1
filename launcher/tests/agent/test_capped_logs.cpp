/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_capped_logs.cpp - global checkpoints because ranks take no independent ones: their requests,
 * and their part of the status.
 */
#include "agent/coordinator/capped_logs.hpp"

#include "common/durations.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using namespace std::chrono_literals;

namespace
{

/* Ranks 0 and 2 of 3 were asked for an independent checkpoint at the start. */
class Logs : public testing::Test
{
  protected:
    Logs()
    {
        state_.ranks.resize(3);
        state_.ranks[0].wanted = 1;
        state_.ranks[2].wanted = 1;
    }

    bool is_due(LogCap::Duration after)
    {
        return logs_.is_due(state_, start_ + after, start_);
    }

    static constexpr LogCap::Duration pause = LogCap::shortest_pause;
    const CappedLogs::Time start_{1000s};
    IndependentState state_;
    CappedLogs logs_;
};

TEST_F(Logs, ACheckpointIsDueWhenRanksTakeTooLong)
{
    EXPECT_FALSE(is_due(0s));
    EXPECT_FALSE(is_due(pause - 1s));
    EXPECT_TRUE(is_due(pause));
    const CheckpointRequest request = logs_.begin();
    EXPECT_TRUE(request.is_for_cap);
    EXPECT_EQ(0u, request.client);
    EXPECT_EQ(-1, request.rank);
    EXPECT_EQ(Then::go_on, request.then);
    EXPECT_EQ((std::vector<int>{0, 2}), logs_.capped().ranks);
    EXPECT_EQ(0u, logs_.capped().taken); /* not committed */
    EXPECT_FALSE(is_due(pause));         /* the next pause is longer */
    EXPECT_TRUE(is_due(2 * pause));
}

TEST_F(Logs, CountsTheCheckpointWithItsRequest)
{
    const double before = static_cast<double>(now_nanoseconds()) * 1e-9;
    EXPECT_FALSE(is_due(0s));
    ASSERT_TRUE(is_due(pause));
    const CheckpointRequest request = logs_.begin();
    logs_.committed({{.client = 0}, {.client = 4}}, 7); /* for other reasons */
    EXPECT_EQ(0u, logs_.capped().taken);
    EXPECT_EQ(0u, logs_.capped().number);
    logs_.committed({{.client = 4}, request}, 8); /* a command has joined */
    EXPECT_EQ(1u, logs_.capped().taken);
    EXPECT_EQ(8u, logs_.capped().number);
    EXPECT_GE(logs_.capped().at, before);
    logs_.committed({}, 9);
    EXPECT_EQ(1u, logs_.capped().taken);
    EXPECT_EQ(8u, logs_.capped().number);
}

TEST_F(Logs, NothingIsDueWhenAllRanksHaveTakenTheirs)
{
    EXPECT_FALSE(is_due(0s));
    for (ckpt_independent_rank &rank : state_.ranks) {
        rank.kept_wanted = rank.wanted;
    }
    EXPECT_FALSE(is_due(1000 * pause));
}

} // namespace
