/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_log_cap.cpp - when all ranks are saved because some take no independent checkpoints.
 */
#include "protocol/log_cap.hpp"

#include <gtest/gtest.h>

namespace ckpt
{

namespace
{

using std::chrono::milliseconds;
using std::chrono::seconds;

class Cap : public testing::Test
{
  protected:
    Cap() { state.ranks.resize(3); }

    void ask(int rank) { state.ranks[rank].wanted++; }
    void keep(int rank) { state.ranks[rank].kept_wanted = state.ranks[rank].wanted; }

    bool is_due_at(LogCap::Duration since_start)
    {
        cap.look(state, start + since_start);
        return cap.is_due(start + since_start, last);
    }

    const LogCap::Time start{std::chrono::hours(1)};
    LogCap::Time last = start; /* global checkpoint */
    IndependentState state;
    LogCap cap;
};

} // namespace

TEST_F(Cap, NobodyIsAsked)
{
    EXPECT_FALSE(is_due_at(seconds(0)));
    EXPECT_FALSE(is_due_at(std::chrono::hours(5)));
}

TEST_F(Cap, WhoIsAskedHasSomeTime)
{
    ask(1);
    EXPECT_FALSE(is_due_at(seconds(1)));
    EXPECT_EQ(cap.asked(), std::vector<int>{1});
    EXPECT_FALSE(is_due_at(seconds(1) + LogCap::shortest_pause - milliseconds(1)));
    EXPECT_TRUE(is_due_at(seconds(1) + LogCap::shortest_pause));
}

TEST_F(Cap, WhoTakesOneIsWaitedForNoMore)
{
    ask(1);
    EXPECT_FALSE(is_due_at(seconds(0)));
    keep(1);
    EXPECT_FALSE(is_due_at(LogCap::shortest_pause));
    EXPECT_TRUE(cap.asked().empty());
    ask(2);
    EXPECT_FALSE(is_due_at(LogCap::shortest_pause + seconds(1))) << "asked a moment ago";
    EXPECT_TRUE(is_due_at(2 * LogCap::shortest_pause + seconds(1)));
}

TEST_F(Cap, ACheckpointOfAllForAnyReasonWillDo)
{
    ask(0);
    EXPECT_FALSE(is_due_at(seconds(0)));
    last = start + LogCap::shortest_pause - seconds(1);
    EXPECT_FALSE(is_due_at(LogCap::shortest_pause));
    EXPECT_TRUE(is_due_at(2 * LogCap::shortest_pause - seconds(1)));
}

TEST_F(Cap, ItIsRepeatedAfterLongerAndLongerPauses)
{
    std::vector<LogCap::Duration> pauses;

    ask(0);
    cap.look(state, start);
    for (LogCap::Time now = start; pauses.size() < 12; now += seconds(1)) {
        if (cap.is_due(now, last)) {
            pauses.push_back(now - last);
            last = now;
            cap.begun();
        }
    }
    EXPECT_EQ(pauses.front(), LogCap::shortest_pause);
    for (std::size_t i = 1; i < pauses.size(); i++) {
        EXPECT_EQ(pauses[i],
                  std::min<LogCap::Duration>(2 * pauses[i - 1], LogCap::longest_pause));
    }
    EXPECT_EQ(pauses.back(), LogCap::longest_pause);
}

TEST_F(Cap, ThePauseIsShortAgainWhenNobodyIsWaitedFor)
{
    ask(0);
    EXPECT_FALSE(is_due_at(seconds(0)));
    cap.begun();
    cap.begun();
    EXPECT_FALSE(is_due_at(4 * LogCap::shortest_pause - seconds(1)));
    EXPECT_TRUE(is_due_at(4 * LogCap::shortest_pause));
    keep(0);
    EXPECT_FALSE(is_due_at(4 * LogCap::shortest_pause));
    ask(0);
    EXPECT_FALSE(is_due_at(4 * LogCap::shortest_pause));
    EXPECT_TRUE(is_due_at(5 * LogCap::shortest_pause));
}

TEST_F(Cap, NotWhileARankIsReplayed)
{
    ask(0);
    EXPECT_FALSE(is_due_at(seconds(0)));
    state.ranks[2].replaying = 1;
    EXPECT_FALSE(is_due_at(10 * LogCap::shortest_pause));
    state.ranks[2].replaying = 0;
    EXPECT_TRUE(is_due_at(10 * LogCap::shortest_pause));
}

} // namespace ckpt
