/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_partners.cpp - the agents of three nodes in a recovery, whose frames the test carries.
 */
#include "agent/recovery/partners.hpp"
#include "common/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace ckpt;

namespace
{

using Order = RecoveryOrder::Step;
using Report = RecoveryReport::Step;

/* What a node hears. */
struct Heard {
    std::vector<RecoveryOrder> orders;
    std::vector<std::pair<std::string, RecoveryReport>> reports;
    std::vector<std::string> lost;
    std::vector<NextWorldOrder> worlds;
    std::vector<world::FenceResult> results;

    Partners::Hooks hooks()
    {
        return {[this](const RecoveryOrder &order) { orders.push_back(order); },
                [this](const std::string &host, const RecoveryReport &report) {
                    reports.emplace_back(host, report);
                },
                [this](const std::string &host) { lost.push_back(host); },
                [this](const NextWorldOrder &order) { worlds.push_back(order); },
                [this](const world::FenceResult &result) { results.push_back(result); }};
    }
};

class ThreeNodes : public testing::Test
{
  protected:
    ThreeNodes()
    {
        connection_ = join("n1", n1_);
        (void)join("n2", n2_);
    }

    std::uint64_t join(const std::string &host, Partners &node)
    {
        node.follow();
        node.connected([this, host](const nlohmann::json &frame) {
            n0_.received(host, nlohmann::json::parse(frame.dump()));
        });
        return n0_.add(host, [&node](const nlohmann::json &frame) {
            node.received(nlohmann::json::parse(frame.dump()));
        });
    }

    void fence(Partners &node, const std::string &data)
    {
        node.fence({{"ckpt-a", {}, 0}, data});
    }

    Heard h0_, h1_, h2_;
    Partners n0_{"n0", h0_.hooks()}, n1_{"n1", h1_.hooks()}, n2_{"n2", h2_.hooks()};
    std::uint64_t connection_ = 0; /* to n1 */
};

world::World some_world()
{
    return {"ckpt-a", {{"n0", {0}}, {"n1", {1, 2}}, {"n2", {3}}}, 0, "/tmp/x"};
}

} // namespace

TEST_F(ThreeNodes, AnOrderIsDoneWhenAllHaveReported)
{
    n0_.order({.step = Order::ask, .rank = 2, .number = 7});
    ASSERT_EQ(h1_.orders.size(), 1);
    EXPECT_EQ(h1_.orders[0].number, 7);
    EXPECT_EQ(h1_.orders, h2_.orders);
    EXPECT_FALSE(n0_.all_have(Report::able));
    n1_.report({.step = Report::able});
    EXPECT_FALSE(n0_.all_have(Report::able));
    n2_.report({.step = Report::able});
    EXPECT_TRUE(n0_.all_have(Report::able));
    EXPECT_EQ(h0_.reports.size(), 2);

    n0_.order({.step = Order::end});
    EXPECT_FALSE(n0_.all_have(Report::able));
    n1_.report({.step = Report::ended, .shells = 2});
    n2_.report({.step = Report::ended, .shells = 1});
    EXPECT_TRUE(n0_.all_have(Report::ended));
    EXPECT_EQ(n0_.shells(), 3);
}

TEST_F(ThreeNodes, ReportsOnAnEarlierOrderAreDropped)
{
    nlohmann::json late;
    n0_.order({.step = Order::thaw});
    n1_.connected([&late](const nlohmann::json &frame) { late = frame; });
    n1_.report({.step = Report::failed, .why = "late"});
    n0_.order({.step = Order::end});
    n0_.received("n1", late);
    EXPECT_TRUE(h0_.reports.empty());
    late["step"] = "died"; /* of no order */
    n0_.received("n1", late);
    EXPECT_EQ(h0_.reports.size(), 1);
}

TEST_F(ThreeNodes, FencesGoThroughTheCoordinator)
{
    n0_.registers(some_world());
    ASSERT_EQ(h1_.worlds.size(), 1);
    EXPECT_EQ(h1_.worlds[0], (NextWorldOrder{"ckpt-a", some_world().nodes}));
    fence(n2_, std::string("\0\xff", 2));
    fence(n0_, "zero");
    EXPECT_TRUE(h0_.results.empty());
    fence(n1_, "");
    for (const Heard *heard : {&h0_, &h1_, &h2_}) {
        ASSERT_EQ(heard->results.size(), 1);
        EXPECT_TRUE(heard->results[0].is_complete);
        EXPECT_EQ(heard->results[0].data, std::string("zero\0\xff", 6));
    }
}

TEST_F(ThreeNodes, ALostNodeFailsItsFences)
{
    n0_.registers(some_world());
    fence(n0_, "zero");
    fence(n2_, "two");
    n0_.remove("n1", connection_ + 100); /* not its connection */
    EXPECT_TRUE(h0_.lost.empty());
    n0_.remove("n1", connection_);
    EXPECT_EQ(h0_.lost, std::vector<std::string>{"n1"});
    for (const Heard *heard : {&h0_, &h2_}) {
        ASSERT_EQ(heard->results.size(), 1);
        EXPECT_FALSE(heard->results[0].is_complete);
    }
    EXPECT_EQ(n0_.obstacle(some_world().nodes), "the agent of n1 is not connected");
}

TEST_F(ThreeNodes, WithoutTheCoordinatorNothingIsSent)
{
    n0_.registers(some_world());
    n1_.disconnected();
    EXPECT_EQ(h1_.lost, std::vector<std::string>{""});
    n1_.report({.step = Report::died});
    EXPECT_TRUE(h0_.reports.empty());
    fence(n1_, "one");
    ASSERT_EQ(h1_.results.size(), 1);
    EXPECT_FALSE(h1_.results[0].is_complete);
}

TEST_F(ThreeNodes, WrongMessagesAreRefused)
{
    const nlohmann::json order = recovery_frame(RecoveryOrder{});
    EXPECT_THROW(n0_.received("n1", order), Error);
    EXPECT_THROW(n0_.received("n7", recovery_frame(RecoveryReport{})), Error);
    EXPECT_THROW(n1_.received(recovery_frame(RecoveryReport{})), Error);
    nlohmann::json wrong = order;
    wrong["step"] = "dance";
    EXPECT_THROW(n1_.received(wrong), Error);
    wrong = order;
    wrong["rank"] = -1;
    EXPECT_THROW(n1_.received(wrong), Error);
    wrong = recovery_frame(world::FenceResult{{"ckpt-a", {}, 0}, true, "data"});
    wrong["data"] = "=not base64=";
    EXPECT_THROW(n1_.received(wrong), Error);
    fence(n1_, "of no world"); /* logged, and not answered */
    EXPECT_TRUE(h1_.results.empty());
}
