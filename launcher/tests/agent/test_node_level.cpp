/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_node_level.cpp - when checkpoints on nodes are protected, and what the records say about
 * them.
 */
#include "config.h"
#include "agent/coordinator/node_level.hpp"

#include "image/store/node_record.hpp"
#include "redundancy/protection.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/worker_replies.hpp"

#include <gtest/gtest.h>

#include <fstream>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

/* Hosts a, b, c, d with a piece each; the test decides when they answer. */
class NodeLevelTest : public testing::Test
{
  protected:
    struct Order {
        std::string host;
        RedundancyOrder order;
    };

    void begin(const std::string &scheme)
    {
        level.emplace(worker, "/memory/job", scratch.path(), newest_protected(scratch.path()),
                      redundancy::Scheme::parse(scheme), std::filesystem::path(),
                      NodeLevel::Hooks{[this](const std::string &host) {
                                           return lost.contains(host) ? "" : "at " + host;
                                       },
                                       [this](const std::string &host, const auto &order) {
                                           orders.push_back({host, order});
                                       },
                                       [this] { over++; }});
    }

    ~NodeLevelTest() override { worker.stop(); }

    /* As the coordinator does: writes the record, then commits. */
    void commit(std::uint64_t number)
    {
        Manifest manifest;
        manifest.job = "job";
        manifest.number = number;
        manifest.rank_count = 4;
        for (int rank = 0; rank < 4; rank++) {
            const std::string host(1, static_cast<char>('a' + rank));
            manifest.pieces.push_back({"node-" + host + ".h5", host, 5, 0, {rank}});
        }
        NodeRecord{manifest, "/memory/job/" + std::to_string(number), nullptr}.write(
            scratch.path());
        level->committed(manifest);
    }

    template <typename Condition>
    void run_until(Condition condition)
    {
        run_replies_until(worker, condition);
    }

    void await_orders(std::size_t count)
    {
        run_until([&] { return orders.size() == count; });
    }

    /* Protects a checkpoint; all hosts answer. */
    void protect(std::uint64_t number)
    {
        const int before = over;
        commit(number);
        await_orders(4);
        answer_all();
        run_until([&] { return over == before + 1; });
    }

    void answer_all(const std::string &error = "")
    {
        const auto given = std::exchange(orders, {});
        for (const Order &order : given) {
            level->written(order.host, order.order.number, error);
        }
    }

    std::size_t groups_noted(std::uint64_t number) const
    {
        return redundancy::groups_from(NodeRecord::load(scratch.path(), number).protection)
            .size();
    }

    ScratchDirectory scratch;
    WorkerThread worker;
    std::set<std::string> lost;
    std::vector<Order> orders;
    int over = 0;
    std::optional<NodeLevel> level; /* last: refers to all else */
};

TEST_F(NodeLevelTest, EachMemberHasItsOrder)
{
    begin("partner");
    commit(1);
    await_orders(4);
    EXPECT_EQ(level->under_way(), 1u);
    EXPECT_EQ(groups_noted(1), 0u);
    for (const Order &order : orders) {
        const auto &members = order.order.group.members;
        EXPECT_EQ(members.size(), 2u);
        EXPECT_EQ(members[order.order.self].host, order.host);
        EXPECT_EQ(order.order.places[0], "at " + members[0].host);
        EXPECT_EQ(order.order.directory, "/memory/job/000001");
        EXPECT_EQ(to_frame(redundancy_order_from(to_frame(order.order))),
                  to_frame(order.order));
    }
    answer_all();
    run_until([&] { return over == 1; });
    EXPECT_EQ(level->redundant(), 1u);
    EXPECT_EQ(groups_noted(1), 2u);
}

TEST_F(NodeLevelTest, OfThoseThatComeMeanwhileTheNewestIsNext)
{
    begin("parity");
    for (std::uint64_t number : {1, 2, 3}) {
        commit(number);
    }
    await_orders(4);
    EXPECT_EQ(orders[0].order.number, 1u);
    EXPECT_EQ(level->needed(), (std::set<std::uint64_t>{1, 3}));
    answer_all();
    await_orders(4);
    EXPECT_EQ(orders[0].order.number, 3u);
    EXPECT_EQ(level->needed(), (std::set<std::uint64_t>{1, 3}));
    answer_all();
    run_until([&] { return over == 2; });
    EXPECT_EQ(level->needed(), (std::set<std::uint64_t>{3}));
}

TEST_F(NodeLevelTest, AFailureIsToldAndTheLastOneStays)
{
    begin("parity");
    protect(1);
    commit(2);
    await_orders(4);
    answer_all("no space");
    EXPECT_EQ(level->redundant(), 1u);
    EXPECT_NE(level->error().find("no space"), std::string::npos);
    EXPECT_EQ(groups_noted(2), 0u);
    EXPECT_EQ(level->needed(), (std::set<std::uint64_t>{1, 2}));
}

TEST_F(NodeLevelTest, AnAgentThatIsLostAnswersNoMore)
{
    begin("parity");
    commit(1);
    await_orders(4);
    for (const char *host : {"a", "b", "c"}) {
        level->written(host, 1, "");
    }
    level->host_gone("d");
    EXPECT_TRUE(level->under_way() == 0 && level->redundant() == 0);
    EXPECT_EQ(level->error(), "the agent of d was lost");
    lost = {"d"};
    commit(2);
    run_until([&] { return over == 2; });
    EXPECT_EQ(level->error(), "there is no agent on d");
    EXPECT_TRUE(orders.empty() || orders[0].order.number == 1);
}

TEST_F(NodeLevelTest, TooFewNodesAreTold)
{
    begin("rs4");
    commit(1);
    run_until([&] { return over == 1; });
    EXPECT_NE(level->error(), "");
    EXPECT_EQ(level->redundant(), 0u);
}

TEST_F(NodeLevelTest, WithoutRedundancyOnlyTheNewestIsNeeded)
{
    begin("none");
    commit(1);
    commit(2);
    EXPECT_TRUE(level->idle() && orders.empty());
    EXPECT_EQ(level->needed(), (std::set<std::uint64_t>{2}));
}

TEST_F(NodeLevelTest, WhatAnAgentBeforeUsHasHadProtectedIsNeeded)
{
    begin("parity");
    protect(1);
    commit(2);
    await_orders(4);
    worker.stop();
    begin("parity");
    EXPECT_EQ(level->redundant(), 1u);
    EXPECT_TRUE(level->needed().contains(1));
}

TEST_F(NodeLevelTest, RecordsOfThePastGo)
{
    begin("none");
    for (std::uint64_t number : {1, 2, 10, 11}) {
        commit(number);
    }
    std::ofstream(scratch / "nodes/other.json") << "{}";
    EXPECT_EQ(NodeRecord::numbers(scratch.path()), (std::vector<std::uint64_t>{1, 2, 10, 11}));
    NodeRecord::discard(scratch.path(), 11, {2});
    EXPECT_EQ(NodeRecord::numbers(scratch.path()), (std::vector<std::uint64_t>{2, 11}));
    EXPECT_EQ(NodeRecord::load(scratch.path(), 11).directory, "/memory/job/11");
    EXPECT_TRUE(NodeRecord::numbers(scratch / "nowhere").empty());
}

TEST(NodeRecord, WhatCannotBeListedIsNotEmpty)
{
    ScratchDirectory scratch;

    EXPECT_TRUE(NodeRecord::numbers(scratch.path()).empty());
    std::filesystem::create_symlink("nodes", scratch / "nodes"); /* to itself */
    EXPECT_THROW((void)NodeRecord::numbers(scratch.path()), Error);
}

} // namespace
