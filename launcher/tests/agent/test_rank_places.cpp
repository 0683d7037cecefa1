/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rank_places.cpp - the nodes of a job and the ranks on them.
 */
#include "agent/coordinator/rank_places.hpp"
#include "tests/agent/fake_node.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using test::FakeNode;

namespace
{

using Nodes = std::vector<Node *>;
using Runs = std::vector<std::pair<int, int>>;

/* Ranks 0, 1 and 3 on the first node, 2 on the second one. */
class Places : public testing::Test
{
  protected:
    FakeNode a_{"a"}, b_{"b"};
    RankPlaces places_{4};

    void connect_all()
    {
        places_.connect(2, b_);
        for (int rank : {3, 0, 1}) {
            places_.connect(rank, a_);
        }
    }
    control::Status status() const
    {
        control::Status status;
        places_.fill(status);
        return status;
    }
};

TEST_F(Places, KnowsWhereEachRankIs)
{
    EXPECT_TRUE(places_.nodes().empty());
    EXPECT_FALSE(places_.is_complete());
    connect_all();
    EXPECT_TRUE(places_.is_complete());
    EXPECT_EQ(Nodes({&a_, &a_, &b_, &a_}), places_.by_rank());
    EXPECT_EQ(Nodes({&a_, &b_}), places_.nodes());  /* by their first ranks */
    EXPECT_EQ(Nodes({&b_, &a_}), places_.agents()); /* by their connections */
    EXPECT_EQ(std::vector<int>({0, 1, 3}), places_.ranks_on(a_));
    EXPECT_EQ(std::vector<int>({2}), places_.ranks_on(b_));
}

TEST_F(Places, ARankThatHasGoneIsNowhere)
{
    connect_all();
    EXPECT_EQ(&b_, places_.disconnect(2));
    EXPECT_EQ(nullptr, places_.disconnect(2));
    EXPECT_EQ(nullptr, places_.node_of(2));
    EXPECT_FALSE(places_.is_complete());
    EXPECT_EQ(Nodes({&a_}), places_.nodes());
    EXPECT_EQ(&b_, places_.agent_of("b")); /* its agent can still copy pieces */
    places_.agent_gone(b_);
    EXPECT_EQ(nullptr, places_.agent_of("b"));
    EXPECT_EQ(Nodes({&a_}), places_.agents());
}

TEST_F(Places, SendsToConnectedRanks)
{
    connect_all();
    const action::Send order{2, CKPT_MSG_HELD, true, {.held = {7}}, {}};
    EXPECT_TRUE(places_.send(order, 5));
    ASSERT_EQ(1u, b_.sent_orders.size());
    EXPECT_EQ(2, b_.sent_orders[0].first.rank);
    EXPECT_EQ(7u, b_.sent_orders[0].first.body.held.safe_point);
    EXPECT_EQ(5u, b_.sent_orders[0].second);
    EXPECT_TRUE(a_.sent_orders.empty());
    places_.disconnect(2);
    EXPECT_FALSE(places_.send(order, 5));
    EXPECT_EQ(1u, b_.sent_orders.size());
}

TEST_F(Places, ReadsThePageOnTheRanksNode)
{
    connect_all();
    b_.clocks_of[2] = {{9, 1, 1, 0, 1}};
    b_.sent_to[{2, 0}] = 20;
    b_.has_of[{2, 3}] = 23;
    ASSERT_EQ(1u, places_.clocks(2).size());
    EXPECT_EQ(9u, places_.clocks(2)[0].id);
    EXPECT_EQ(20u, places_.sent(2, 0));
    EXPECT_EQ(23u, places_.received(2, 3));
    EXPECT_EQ(0u, places_.sent(0, 2));
    places_.disconnect(2);
    EXPECT_TRUE(places_.clocks(2).empty());
    EXPECT_EQ(0u, places_.sent(2, 0));
    EXPECT_EQ(0u, places_.received(2, 3));
}

TEST_F(Places, TwoNodesWithOneNameAreAnObstacle)
{
    FakeNode twin("a");
    connect_all();
    EXPECT_TRUE(places_.obstacle().empty());
    places_.connect(1, twin);
    EXPECT_EQ(CKPT_REFUSAL_SAME_HOST_NAMES, places_.obstacle().identity());
    places_.disconnect(1);
    EXPECT_TRUE(places_.obstacle().empty());
}

TEST_F(Places, ListsTheRanksOfEachNodeInRuns)
{
    connect_all();
    const std::vector<TraceNode> nodes = places_.to_trace();
    ASSERT_EQ(2u, nodes.size());
    EXPECT_EQ("a", nodes[0].host);
    EXPECT_EQ(Runs({{0, 1}, {3, 3}}), nodes[0].ranks);
    EXPECT_EQ("b", nodes[1].host);
    EXPECT_EQ(Runs({{2, 2}}), nodes[1].ranks);
}

TEST_F(Places, TheStatusKeepsTheLatestPlaces)
{
    EXPECT_TRUE(status().nodes.empty());
    connect_all();
    places_.disconnect(2);
    places_.agent_gone(b_);
    const control::Status status = this->status();
    ASSERT_EQ(2u, status.nodes.size());
    EXPECT_EQ("a", status.nodes[0].host);
    EXPECT_EQ(Runs({{0, 1}, {3, 3}}), status.nodes[0].ranks);
    EXPECT_TRUE(status.nodes[0].connected);
    EXPECT_EQ("b", status.nodes[1].host);
    EXPECT_EQ(Runs({{2, 2}}), status.nodes[1].ranks);
    EXPECT_FALSE(status.nodes[1].connected);
}

/* The status still tells where the rank was. */
TEST_F(Places, AProxyAnswersForADeadRank)
{
    connect_all();
    places_.disconnect(2);
    places_.connect_proxy(2, a_);
    EXPECT_TRUE(places_.is_complete());
    EXPECT_EQ(std::vector<int>({0, 1, 2, 3}), places_.ranks_on(a_));
    EXPECT_EQ("b", status().nodes[1].host);
    EXPECT_EQ(&a_, places_.disconnect(2));
}

TEST_F(Places, LanesFollowNodesAndFileServers)
{
    connect_all();
    EXPECT_TRUE(places_.lanes(Stagger::no).empty());
    EXPECT_EQ(Lanes({{0, 1, 3}, {2}}), places_.lanes(Stagger::node));
    a_.memories = {{0, 0}, {1, 0}, {3, 1}}; /* turns alternate between memories */
    EXPECT_EQ(Lanes({{0, 3, 1}, {2}}), places_.lanes(Stagger::node));
    for (FakeNode *node : {&a_, &b_}) {
        node->storage = {FileSystem::Kind::server, "files:/export"};
    }
    ASSERT_EQ(1u, places_.lanes(Stagger::storage).size());
    EXPECT_EQ(4u, places_.lanes(Stagger::storage)[0].size());
    b_.storage.source = "others:/export";
    EXPECT_EQ(2u, places_.lanes(Stagger::storage).size());
}

TEST_F(Places, OnlyAnAgentThatSeesAPieceCopiesIt)
{
    connect_all();
    EXPECT_EQ(&b_, places_.copier("b", "a"));
    places_.set_apart({"b"});
    EXPECT_EQ(Nodes({&b_}), places_.agents_apart());
    EXPECT_EQ(&b_, places_.copier("b", "a"));
    places_.agent_gone(b_);
    EXPECT_EQ(nullptr, places_.copier("b", "a")); /* only its writer saw it */
    EXPECT_EQ(&a_, places_.copier("c", "a"));
    EXPECT_TRUE(places_.agents_apart().empty());
}

} // namespace
