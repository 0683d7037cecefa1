/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lanes.cpp - which ranks are saved one after the other, and in which
 * order.
 */
#include "protocol/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ckpt
{

namespace
{

const std::string home = "server:/home";

/* Ranks that a launcher places node by node; it also fills the NUMA nodes of
 * each node one by one. */
std::vector<RankPlace> by_node(int nodes, int memories, int ranks_beside_each,
                               const std::string &server = {})
{
    std::vector<RankPlace> places;

    for (int node = 0; node < nodes; node++) {
        for (int memory = 0; memory < memories; memory++) {
            places.insert(places.end(), ranks_beside_each,
                          {node, server, memory});
        }
    }
    return places;
}

TEST(Lanes, NoneWithoutStaggering)
{
    EXPECT_EQ(lanes_of(Stagger::no, by_node(2, 1, 2, home)), Lanes());
}

TEST(Lanes, ANodeIsOne)
{
    for (const std::string &server : {std::string(), home}) {
        EXPECT_EQ(lanes_of(Stagger::node, by_node(2, 1, 3, server)),
                  (Lanes{{0, 1, 2}, {3, 4, 5}}));
    }
}

TEST(Lanes, NodesOfAServerAreOne)
{
    std::vector<RankPlace> places = by_node(4, 1, 1, home);

    EXPECT_EQ(lanes_of(Stagger::storage, places), (Lanes{{0, 1, 2, 3}}));
    places[1].server = places[3].server = "other:/home";
    EXPECT_EQ(lanes_of(Stagger::storage, places), (Lanes{{0, 2}, {1, 3}}));
}

TEST(Lanes, NodesWithoutAServerAreApart)
{
    std::vector<RankPlace> places = by_node(4, 1, 1);

    EXPECT_EQ(lanes_of(Stagger::storage, places), (Lanes{{0}, {1}, {2}, {3}}));
    places[1].server = places[2].server = home;
    EXPECT_EQ(lanes_of(Stagger::storage, places), (Lanes{{0}, {1, 2}, {3}}));
}

TEST(Lanes, TheJobIsOneWhereverItIsSaved)
{
    std::vector<RankPlace> places = by_node(3, 1, 1);

    places[1].server = home;
    EXPECT_EQ(lanes_of(Stagger::job, places), (Lanes{{0, 1, 2}}));
}

TEST(Lanes, TurnsGoRoundTheNodes)
{
    EXPECT_EQ(lanes_of(Stagger::job, by_node(3, 1, 2)),
              (Lanes{{0, 2, 4, 1, 3, 5}}));
}

TEST(Lanes, TurnsGoRoundTheMemoriesOfANode)
{
    EXPECT_EQ(lanes_of(Stagger::node, by_node(1, 2, 3)),
              (Lanes{{0, 3, 1, 4, 2, 5}}));
    EXPECT_EQ(lanes_of(Stagger::storage, by_node(2, 2, 2, home)),
              (Lanes{{0, 4, 2, 6, 1, 5, 3, 7}}));
}

TEST(Lanes, WhoHasMoreRanksEndsLater)
{
    std::vector<RankPlace> places = by_node(1, 1, 3);

    places.push_back({1, {}, 0});
    places.push_back({0, {}, 1});
    EXPECT_EQ(lanes_of(Stagger::job, places), (Lanes{{0, 3, 4, 1, 2}}));
}

TEST(Lanes, EachRankHasOneTurn)
{
    std::vector<RankPlace> places;

    for (int rank = 0; rank < 97; rank++) {
        places.push_back({rank * 7 % 5, rank % 5 < 2 ? home : "", rank % 3});
    }
    for (Stagger stagger : {Stagger::node, Stagger::storage, Stagger::job}) {
        std::vector<int> all;
        for (const std::vector<int> &lane : lanes_of(stagger, places)) {
            all.insert(all.end(), lane.begin(), lane.end());
        }
        std::ranges::sort(all);
        ASSERT_EQ(all.size(), places.size());
        for (int rank = 0; rank < 97; rank++) {
            EXPECT_EQ(all[rank], rank);
        }
    }
}

} // namespace

} // namespace ckpt
