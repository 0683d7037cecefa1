/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_held_request.cpp - when a request that ranks hold off is tried again, and at which safe
 * point.
 */
#include "protocol/held_request.hpp"
#include "protocol/rank_message.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ckpt
{

namespace
{

using std::chrono::milliseconds;

ckpt_message refusal(std::uint64_t reached)
{
    ckpt_message message =
        make_message(CKPT_MSG_REFUSED, 1, {}, "it has not come to a safe point");
    message.as.refused.identity = CKPT_REFUSAL_AWAITS_SAFE_POINT;
    message.as.refused.for_now = 1;
    message.as.refused.safe_points = reached;
    return message;
}

ckpt_message at(std::uint64_t reached)
{
    return make_message(CKPT_MSG_ALLOWED, 1, {.allowed = {reached}});
}

std::vector<ckpt_clock> inside(std::uint64_t entered)
{
    return {{1, 3, 3, 0, 3}, {2, entered, entered - 1, 0, entered - 1}};
}

class Held : public testing::Test
{
  protected:
    Held() { request.begin(); }

    HeldRequest request;
    HeldRequest::Time now{std::chrono::hours(1)};
};

TEST_F(Held, NobodyRefuses)
{
    EXPECT_FALSE(request.any());
}

TEST_F(Held, IsTriedWhenAllWhoHaveRefusedCanBeSaved)
{
    request.refused(0, refusal(4));
    request.refused(2, refusal(7));
    EXPECT_TRUE(request.any());
    request.hold(now);
    EXPECT_EQ(request.safe_point(), 8u); /* no rank has passed it */
    EXPECT_EQ(request.due(), HeldRequest::Time::max());
    EXPECT_TRUE(request.allowed(2, at(8)));
    EXPECT_FALSE(request.allowed(1, at(8))); /* this rank had not refused */
    EXPECT_EQ(request.due(), HeldRequest::Time::max());
    EXPECT_TRUE(request.allowed(0, at(8)));
    EXPECT_EQ(request.due(), now);
}

TEST_F(Held, SaysWhoHoldsIt)
{
    request.refused(3, refusal(0));
    EXPECT_EQ(request.reason().text(),
              "rank 3: it has not come to a safe point [awaits-safe-point]");
    request.refused(5, refusal(0));
    EXPECT_EQ(request.reason().text(),
              "rank 3 and 1 more: it has not come to a safe point [awaits-safe-point]");
}

TEST_F(Held, TriesLessAndLessOften)
{
    HeldRequest::Duration last{};
    for (int i = 0; i < 20; i++) {
        request.begin();
        request.refused(0, refusal(1));
        request.hold(now);
        (void)request.allowed(0, at(1));
        EXPECT_GE(request.due() - now, last);
        last = request.due() - now;
    }
    EXPECT_EQ(last, milliseconds(500));
    request.end();
    request.begin();
    request.refused(0, refusal(1));
    request.hold(now);
    (void)request.allowed(0, at(1));
    EXPECT_EQ(request.due(), now); /* another request */
}

TEST_F(Held, WhoStaysGoesOnForOneThatIsStuck)
{
    request.refused(0, refusal(4));
    request.refused(1, refusal(4));
    request.hold(now);
    EXPECT_TRUE(request.allowed(0, at(6))); /* stays at its 6th safe point */
    EXPECT_FALSE(request.stuck(0, at(6)));
    EXPECT_EQ(request.safe_point(), 5u);
    EXPECT_TRUE(request.stuck(1, at(4)));
    /* This is after every safe point at which a rank stays. */
    EXPECT_EQ(request.safe_point(), 7u);
    EXPECT_TRUE(request.stuck(1, at(4)));
    EXPECT_EQ(request.safe_point(), 8u);
}

TEST_F(Held, LongInACollectiveIsStuck)
{
    request.refused(1, refusal(4));
    request.hold(now);
    EXPECT_FALSE(request.inside(1, inside(9), now));
    EXPECT_FALSE(request.inside(1, inside(10), now + milliseconds(150)));
    EXPECT_FALSE(request.inside(1, inside(10), now + milliseconds(300)));
    EXPECT_TRUE(request.inside(1, inside(10), now + milliseconds(350)));
    EXPECT_EQ(request.safe_point(), 6u);
    EXPECT_FALSE(request.inside(1, inside(10), now + milliseconds(360)));
    EXPECT_FALSE(request.inside(0, inside(1), now)); /* it can be saved */
    EXPECT_FALSE(request.inside(0, inside(1), now + milliseconds(300)));
}

TEST_F(Held, OneThatHasGoneHoldsNothing)
{
    request.refused(1, refusal(4));
    request.hold(now);
    request.exited(1);
    EXPECT_EQ(request.due(), now);
}

} // namespace

} // namespace ckpt
