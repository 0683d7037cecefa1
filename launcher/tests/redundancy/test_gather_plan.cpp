/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_gather_plan.cpp - the sources of the pieces of a checkpoint on nodes, for any set of
 * available nodes.
 */
#include "config.h"
#include "gather/gather_plan.hpp"

#include "common/error.hpp"
#include "image/store/checkpoint_files.hpp"
#include "redundancy/protection.hpp"
#include "tests/common/mutations.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using namespace ckpt::gather;
using namespace ckpt::test;

namespace
{

std::string file_of(const std::string &host)
{
    return "node-" + host + ".h5";
}

/* Nodes a, b, c, ... with one rank each. */
class GatherPlan : public testing::Test
{
  protected:
    void make(int count, const std::string &scheme)
    {
        Manifest &manifest = record.manifest;
        manifest.job = "job";
        manifest.rank_count = count;
        for (int rank = 0; rank < count; rank++) {
            const std::string host(1, static_cast<char>('a' + rank));
            manifest.pieces.push_back(
                {file_of(host), host, 100 + static_cast<std::uint64_t>(rank), 0, {rank}});
            nodes[host] = {{rank},
                           {{file_of(host), manifest.pieces.back().bytes},
                            {parity_file_name(host), 1}},
                           "place of " + host};
        }
        const auto how = redundancy::Scheme::parse(scheme);
        record.protection = redundancy::protection_json(
            how, redundancy::groups_of(manifest.pieces, how, {}));
    }

    /* Replaces a node by a new one. */
    void lose(const std::string &host, const std::string &by)
    {
        Holder holder{nodes.at(host).ranks, {}, "place of " + by};
        nodes.erase(host);
        nodes[by] = holder;
    }

    std::string failure() const
    {
        try {
            (void)plan_tasks(record, nodes);
            return "";
        } catch (const Error &error) {
            return error.what();
        }
    }

    NodeRecord record;
    std::map<std::string, Holder> nodes;
};

TEST_F(GatherPlan, WhoHasAllHasNothingToDo)
{
    make(4, "none");
    for (const auto &[host, tasks] : plan_tasks(record, nodes)) {
        EXPECT_TRUE(tasks.fetch.empty() && tasks.rebuild.empty()) << host;
    }
}

TEST_F(GatherPlan, RanksThatHaveMovedHaveTheirPiecesFetched)
{
    make(3, "none");
    nodes["a"].ranks = {1};
    nodes["b"].ranks = {0, 2};
    nodes["c"].ranks = {};
    const auto plan = plan_tasks(record, nodes);
    ASSERT_EQ(plan.at("a").fetch.size(), 1u);
    EXPECT_EQ(plan.at("a").fetch[0].piece.file, file_of("b"));
    EXPECT_EQ(plan.at("a").fetch[0].place, "place of b");
    ASSERT_EQ(plan.at("b").fetch.size(), 2u);
    EXPECT_TRUE(plan.at("c").fetch.empty());
}

TEST_F(GatherPlan, ALostPieceIsMadeAgainByWhoNeedsIt)
{
    make(4, "parity");
    lose("b", "x");
    const auto plan = plan_tasks(record, nodes);
    ASSERT_EQ(plan.at("x").rebuild.size(), 1u);
    const Rebuild &rebuild = plan.at("x").rebuild[0];
    EXPECT_EQ(rebuild.group.members[rebuild.lost].host, "b");
    for (std::size_t i = 0; i < rebuild.places.size(); i++) {
        const std::string &host = rebuild.group.members[i].host;
        EXPECT_EQ(rebuild.places[i], host == "b" ? "" : "place of " + host);
    }
    EXPECT_TRUE(plan.at("a").rebuild.empty());
}

TEST_F(GatherPlan, TwoOfFourWithTwoLosses)
{
    make(4, "rs2");
    lose("a", "x");
    lose("d", "y");
    const auto plan = plan_tasks(record, nodes);
    EXPECT_EQ(plan.at("x").rebuild.size(), 1u);
    EXPECT_EQ(plan.at("y").rebuild.size(), 1u);
    lose("b", "z");
    EXPECT_EQ(failure(), "node-a.h5 is lost with 2 of the 3 nodes that could replace it");
}

TEST_F(GatherPlan, ANodeWithoutItsParityReplacesNothing)
{
    make(2, "partner");
    nodes["a"].files.erase(parity_file_name("a"));
    lose("b", "x");
    EXPECT_EQ(failure(), "node-b.h5 is lost with 1 of the 1 nodes that could replace it");
}

TEST_F(GatherPlan, APieceOfTheWrongLengthIsNone)
{
    make(2, "none");
    nodes["a"].files[file_of("a")]--;
    EXPECT_EQ(failure(), "node-a.h5 is on none of the nodes, and nothing can replace it");
}

TEST_F(GatherPlan, ARankThatIsNowhere)
{
    make(2, "none");
    nodes["b"].ranks = {};
    EXPECT_EQ(failure(), "rank 1 is on no node");
}

TEST_F(GatherPlan, WhatMaySurviveIsKnownBefore)
{
    make(4, "parity");
    EXPECT_TRUE(may_survive(record, {}));
    EXPECT_TRUE(may_survive(record, {"b"}));
    EXPECT_TRUE(may_survive(record, {"other"}));
    EXPECT_FALSE(may_survive(record, {"a", "b"}));
    record.protection = nullptr;
    EXPECT_TRUE(may_survive(record, {}));
    EXPECT_FALSE(may_survive(record, {"a"}));
}

TEST_F(GatherPlan, TasksTravelAsText)
{
    make(4, "rs2");
    lose("a", "x");
    nodes["c"].ranks = {2, 3};
    for (const auto &[host, tasks] : plan_tasks(record, nodes)) {
        const auto text = to_json(tasks);
        EXPECT_EQ(to_json(tasks_from(text)), text) << host;
    }
}

TEST_F(GatherPlan, TextThatIsNoTaskIsRefused)
{
    make(4, "rs2");
    lose("a", "x");
    nodes["x"].ranks = {0, 3};
    const auto good = to_json(plan_tasks(record, nodes).at("x"));
    for_rounds(1000, [&](Mutations &mutations) {
        const auto changed = mutations.json(good);
        try {
            (void)tasks_from(changed);
        } catch (const nlohmann::json::exception &) {
        } catch (const Error &) {
        }
    });
}

} // namespace
