/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_held_clients.cpp - clients that wait because ranks refuse to be saved at present, and ranks
 * whose programs ask for a checkpoint together.
 */
#include "agent/coordinator/held_clients.hpp"
#include "agent/coordinator/joint_request.hpp"
#include "protocol/rank_message.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace ckpt;
using namespace std::chrono_literals;

namespace
{

constexpr std::uint64_t epoch = 5;

ckpt_message refused(std::uint64_t safe_points, std::uint64_t of_epoch = epoch)
{
    ckpt_message message = make_message(CKPT_MSG_REFUSED, of_epoch, {}, "not at a safe point");
    message.as.refused.identity = CKPT_REFUSAL_AWAITS_SAFE_POINT;
    message.as.refused.for_now = 1;
    message.as.refused.safe_points = safe_points;
    return message;
}

ckpt_message said(std::uint32_t type, std::uint64_t safe_points)
{
    return make_message(type, epoch, {.allowed = {safe_points}});
}

class Pages : public RankPages
{
  public:
    std::map<int, std::vector<ckpt_clock>> by_rank;

    std::vector<ckpt_clock> clocks(int rank) const override
    {
        const auto found = by_rank.find(rank);
        return found == by_rank.end() ? std::vector<ckpt_clock>() : found->second;
    }
    std::uint64_t sent(int, int) const override { return 0; }
    std::uint64_t received(int, int) const override { return 0; }
};

/* A job of 4 ranks; commands 1 and 2 wait. */
class Holding : public testing::Test
{
  protected:
    const HeldClients::Hooks hooks_{
        [this](const CheckpointRequest &client, const control::Reply &reply) {
            replies_.emplace_back(client.client, reply);
        },
        [this](std::uint64_t number) { safe_points_.push_back(number); }};
    HeldClients held_{4, 60s, hooks_};
    const HeldClients::Time begin_ = std::chrono::steady_clock::now();
    std::vector<std::pair<ClientId, control::Reply>> replies_;
    std::vector<std::uint64_t> safe_points_;

    /* Ranks 1 and 3 refuse; they have passed 7 safe points at most. */
    void hold(const HeldClients::Requests &clients)
    {
        held_.attempt_begins();
        EXPECT_FALSE(held_.rank_said(1, refused(7), epoch)); /* the cut has to know as well */
        EXPECT_FALSE(held_.rank_said(3, refused(4), epoch));
        held_.hold(clients, begin_);
    }
    void hold() { hold({{.client = 1}, {.client = 2}}); }
};

TEST_F(Holding, TellsClientsWhyTheyWaitAndRanksWhereToWait)
{
    hold();
    EXPECT_TRUE(held_.is_holding());
    EXPECT_EQ((std::vector<std::uint64_t>{8}), safe_points_);
    ASSERT_EQ(2u, replies_.size());
    EXPECT_EQ(1u, replies_[0].first);
    EXPECT_EQ(2u, replies_[1].first);
    const control::Reply &reply = replies_[1].second;
    EXPECT_EQ("progress", reply.event);
    EXPECT_EQ("held", reply.progress.phase);
    EXPECT_EQ(4, reply.progress.rank_count);
    EXPECT_EQ(2, reply.progress.ranks_done);
    EXPECT_EQ("rank 1 and 1 more: not at a safe point [awaits-safe-point]",
              reply.progress.waits_for);
    EXPECT_EQ(reply.progress.waits_for, held_.reason().text());
}

TEST_F(Holding, TellsAllClientsWhenARankAllowsOrAClientJoins)
{
    hold();
    replies_.clear();
    EXPECT_TRUE(held_.rank_said(3, said(CKPT_MSG_ALLOWED, 8), epoch));
    ASSERT_EQ(2u, replies_.size());
    EXPECT_EQ(3, replies_[0].second.progress.ranks_done);
    EXPECT_TRUE(held_.rank_said(0, said(CKPT_MSG_ALLOWED, 8), epoch)); /* it had not refused */
    EXPECT_EQ(2u, replies_.size());
    held_.add({.client = 9});
    ASSERT_EQ(5u, replies_.size());
    EXPECT_EQ(9u, replies_[4].first);
}

TEST_F(Holding, IsDueWhenAllRanksAllow)
{
    hold();
    EXPECT_EQ(HeldClients::Time::max(), held_.due());
    EXPECT_TRUE(held_.rank_said(3, said(CKPT_MSG_ALLOWED, 8), epoch));
    held_.rank_exited(1);
    EXPECT_EQ(begin_, held_.due());
    const HeldClients::Requests clients = held_.take();
    ASSERT_EQ(2u, clients.size());
    EXPECT_EQ(2u, clients[1].client);
    EXPECT_FALSE(held_.is_holding());
}

TEST_F(Holding, ARefusalOfAnotherAttemptDoesNotHold)
{
    held_.attempt_begins();
    EXPECT_FALSE(held_.rank_said(1, refused(7, epoch - 1), epoch));
    EXPECT_FALSE(held_.is_refused());
    ckpt_message for_good = refused(7);
    for_good.as.refused.for_now = 0;
    EXPECT_FALSE(held_.rank_said(1, for_good, epoch));
    EXPECT_FALSE(held_.is_refused());
    EXPECT_FALSE(held_.rank_said(1, refused(7), epoch));
    EXPECT_TRUE(held_.is_refused());
}

TEST_F(Holding, WaitingRanksGoOnForOneThatIsBlocked)
{
    hold();
    EXPECT_TRUE(held_.rank_said(0, said(CKPT_MSG_HOLD_BLOCKED, 8), epoch)); /* it had not refused */
    EXPECT_EQ(1u, safe_points_.size());
    EXPECT_TRUE(held_.rank_said(3, said(CKPT_MSG_HOLD_BLOCKED, 4), epoch));
    EXPECT_EQ((std::vector<std::uint64_t>{8, 9}), safe_points_);
}

TEST_F(Holding, WaitingRanksGoOnForOneInsideACollective)
{
    Pages pages;
    pages.by_rank[3] = {{2, 6, 5, 0, 5}}; /* it has entered 6 collectives, and left 5 */
    hold();
    held_.look(pages, begin_);
    held_.look(pages, begin_ + HeldRequest::timeout - 1ms);
    EXPECT_EQ(1u, safe_points_.size());
    held_.look(pages, begin_ + HeldRequest::timeout);
    EXPECT_EQ((std::vector<std::uint64_t>{8, 9}), safe_points_);
}

TEST_F(Holding, ARequestDoesNotWaitLongerThanItsTimeLimit)
{
    hold();
    EXPECT_TRUE(held_.overdue(begin_ + 60s - 1ns).empty());
    const Refusal overdue = held_.overdue(begin_ + 60s);
    EXPECT_EQ(CKPT_REFUSAL_AWAITS_SAFE_POINT, overdue.identity());
    EXPECT_EQ("not done after 1 min 0 s: rank 1 and 1 more: not at a safe point", overdue.detail());
    /* Another attempt for the same request. */
    const HeldClients::Requests clients = held_.take();
    held_.attempt_begins();
    EXPECT_FALSE(held_.rank_said(1, refused(9), epoch));
    held_.hold(clients, begin_ + 50s);
    EXPECT_FALSE(held_.overdue(begin_ + 60s).empty());
}

TEST_F(Holding, NoRankWaitsWhenTheRequestIsOver)
{
    held_.end();
    EXPECT_TRUE(safe_points_.empty()); /* no rank waited */
    hold();
    held_.take();
    held_.end();
    EXPECT_EQ((std::vector<std::uint64_t>{8, CKPT_HELD_OVER}), safe_points_);
    held_.end();
    EXPECT_EQ(2u, safe_points_.size());
    EXPECT_FALSE(held_.is_refused());
}

TEST_F(Holding, EndsWithItsLastClient)
{
    hold();
    EXPECT_FALSE(held_.withdraw(7));
    EXPECT_FALSE(held_.withdraw(1));
    EXPECT_TRUE(held_.withdraw(2));
    EXPECT_FALSE(held_.is_holding());
    EXPECT_FALSE(held_.withdraw(2));
}

TEST_F(Holding, WithoutClientsNothingWaits)
{
    hold({});
    EXPECT_FALSE(held_.is_holding());
    EXPECT_TRUE(replies_.empty());
    held_.end();
    EXPECT_EQ((std::vector<std::uint64_t>{CKPT_HELD_OVER}), safe_points_);
}

TEST(Joint, IsRequestedWhenTheLastRankAsks)
{
    JointRequest joint(3);
    EXPECT_TRUE(joint.ask(2, 20).empty());
    EXPECT_TRUE(joint.ask(0, 1).empty());
    EXPECT_TRUE(joint.ask(0, 2).empty()); /* the same rank again */
    const std::vector<CheckpointRequest> all = joint.ask(1, 10);
    ASSERT_EQ(3u, all.size());
    for (int rank = 0; rank < 3; rank++) {
        EXPECT_EQ(rank, all[rank].rank);
        EXPECT_EQ(0u, all[rank].client);
        EXPECT_EQ(Then::go_on, all[rank].then);
    }
    EXPECT_EQ(2u, all[0].number);
    EXPECT_EQ(10u, all[1].number);
    EXPECT_EQ(20u, all[2].number);
    EXPECT_TRUE(joint.ask(1, 11).empty()); /* the next request */
}

TEST(Joint, IsOffWhenARankCannotAsk)
{
    JointRequest joint(3);
    EXPECT_TRUE(joint.drop().empty());
    EXPECT_TRUE(joint.ask(2, 20).empty());
    const std::vector<CheckpointRequest> dropped = joint.drop();
    ASSERT_EQ(1u, dropped.size());
    EXPECT_EQ(2, dropped[0].rank);
    EXPECT_EQ(20u, dropped[0].number);
    EXPECT_TRUE(joint.drop().empty());
}

} // namespace
