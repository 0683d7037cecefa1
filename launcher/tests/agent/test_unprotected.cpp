/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_unprotected.cpp - when a job counts as unprotected, and the messages about that.
 */
#include "agent/ranks/unprotected.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using namespace std::chrono_literals;

namespace
{

class UnprotectedJob : public testing::Test
{
  protected:
    const Unprotected::Time begin_{1000s};
    Unprotected job_;

    std::optional<Unprotected::News> news(std::chrono::seconds after)
    {
        return job_.news(begin_ + after, 60s);
    }
};

TEST_F(UnprotectedJob, IsToldOfOnceAndSinceTheFirstFailure)
{
    EXPECT_FALSE(news(0s));
    job_.failed(begin_ + 5s, "no room");
    auto told = news(5s);
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->is_unprotected);
    EXPECT_FALSE(told->is_overdue);
    EXPECT_EQ("no room", told->why);
    job_.failed(begin_ + 6s, "it is gone");
    EXPECT_FALSE(news(7s));
    EXPECT_EQ(begin_ + 5s, job_.since());
}

TEST_F(UnprotectedJob, IsOverdueWhenASecondTryHasFailedAnIntervalLater)
{
    job_.failed(begin_, "no room");
    EXPECT_TRUE(news(0s));
    EXPECT_FALSE(news(65s)); /* the next attempt is still to come */
    job_.failed(begin_ + 65s, "no room");
    auto told = news(65s);
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->is_overdue);
    EXPECT_FALSE(news(200s));
}

TEST_F(UnprotectedJob, IsProtectedAgain)
{
    job_.failed(begin_, "no room");
    EXPECT_TRUE(news(0s));
    job_.committed();
    auto told = news(70s);
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->is_unprotected);
    EXPECT_FALSE(news(71s));
    EXPECT_FALSE(job_.since());
    /* Earlier failures do not count. */
    job_.failed(begin_ + 200s, "no room");
    EXPECT_FALSE(news(300s)->is_overdue);
}

TEST_F(UnprotectedJob, IsNotToldOfWhatIsOverAlready)
{
    job_.failed(begin_, "no room");
    job_.committed();
    EXPECT_FALSE(news(0s));
}

TEST_F(UnprotectedJob, ASlowCheckpointProtectsNobodyMeanwhile)
{
    job_.under_way(begin_, begin_ + 59s, 60s);
    EXPECT_FALSE(news(59s));
    job_.under_way(begin_, begin_ + 60s, 60s);
    auto told = news(60s);
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->is_overdue);
    EXPECT_EQ(begin_, job_.since());
    job_.under_way(begin_, begin_ + 600s, 60s);
    EXPECT_FALSE(news(600s)); /* it may still come */
}

} // namespace
