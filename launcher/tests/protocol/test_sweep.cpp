/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sweep.cpp - whole sweeps over every mesh for up to 70 nodes. Each node
 * must end up with the sums, and with as many messages as chapter 2 of Plank
 * (1993) allows.
 */
#include "config.h"
#include "protocol/sweep.hpp"

#include "common/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace ckpt
{

namespace
{

using Direction = SweepTopology::Direction;

constexpr std::uint32_t most_nodes = 70;

/* A job of random size with random counts, and a network that delivers its
 * messages in random order, while ranks cut at random times. */
class SimulatedSweep
{
  public:
    SimulatedSweep(const SweepTopology &topology, unsigned seed)
        : topology(topology), generator(seed), ranks(random_ranks())
    {
        sums.resize(ranks.ranks());
        for (std::uint32_t node = 0; node < topology.nodes(); node++) {
            nodes.emplace_back(topology, ranks, node);
            for (auto rank = ranks.first(node); rank < ranks.first(node + 1);
                 rank++) {
                cuts.emplace_back(node, random_counts());
            }
        }
        std::shuffle(cuts.begin(), cuts.end(), generator);
    }

    void run()
    {
        for (std::uint32_t node = 0; node < topology.nodes(); node++) {
            collect(node); /* of nodes without ranks */
        }
        while (!cuts.empty() || !network.empty()) {
            const bool cut =
                network.empty() || (!cuts.empty() && below(3) == 0);
            if (cut) {
                auto [node, counts] = std::move(cuts.back());
                cuts.pop_back();
                nodes[node].add(counts);
                collect(node);
            } else {
                deliver();
            }
        }
    }

    void expect_sums() const
    {
        for (std::uint32_t node = 0; node < topology.nodes(); node++) {
            ASSERT_TRUE(nodes[node].complete()) << "node " << node;
            for (auto rank = ranks.first(node); rank < ranks.first(node + 1);
                 rank++) {
                ASSERT_EQ(nodes[node].expected().at(rank), sums[rank])
                    << "rank " << rank << " of node " << node;
            }
        }
    }

    std::uint32_t below(std::uint32_t limit)
    {
        return static_cast<std::uint32_t>(generator() % limit);
    }

    const SweepTopology &topology;
    std::mt19937 generator;
    const SweepRanks ranks;
    std::vector<Sweep> nodes;
    std::vector<SweepMessage> network;
    std::uint64_t sent = 0;

  private:
    /* Returns random ranks; now and then a node has none. */
    SweepRanks random_ranks()
    {
        std::vector<std::uint32_t> counts(topology.nodes());
        for (auto &count : counts) {
            count = below(4);
        }
        return SweepRanks(counts);
    }

    RankCounts random_counts()
    {
        std::vector<std::uint64_t> counts(ranks.ranks());
        for (std::size_t rank = 0; rank < counts.size(); rank++) {
            counts[rank] = below(3) == 0 ? below(1000) : 0;
            sums[rank] += counts[rank];
        }
        return RankCounts::dense(counts);
    }

    void collect(std::uint32_t node)
    {
        for (SweepMessage &message : nodes[node].take_messages()) {
            ASSERT_NE(topology.host(message.to), node);
            ASSERT_EQ(topology.host(message.from), node);
            sent++;
            network.push_back(std::move(message));
        }
    }

    void deliver()
    {
        std::swap(network[below(static_cast<std::uint32_t>(network.size()))],
                  network.back());
        SweepMessage message = std::move(network.back());
        network.pop_back();
        const std::uint32_t node = topology.host(message.to);
        nodes[node].receive(std::move(message));
        collect(node);
    }

    std::vector<std::uint64_t> sums;                        /* to each rank */
    std::vector<std::pair<std::uint32_t, RankCounts>> cuts; /* to come */
};

/* The hypercube, the cubes of 1 to 4 dimensions, and lopsided meshes. */
std::vector<SweepTopology> topologies(std::uint32_t nodes)
{
    std::vector<SweepTopology> all{SweepTopology::hypercube(nodes)};
    for (unsigned dimensions = 1; dimensions <= 4; dimensions++) {
        all.push_back(SweepTopology::cube(nodes, dimensions));
    }
    for (std::uint32_t layer : {2, 6, 15}) {
        if (nodes > layer) {
            std::vector<std::uint32_t> sides{(nodes + layer - 1) / layer};
            for (std::uint32_t side : {2, 3, 5}) {
                if (layer % side == 0) {
                    sides.push_back(side);
                }
            }
            all.emplace_back(nodes, sides);
        }
    }
    return all;
}

/* Two places are neighbours if they differ by one in one coordinate. The places
 * of a message go to all nodes that equal the receiver in the coordinates
 * before it and are not behind it. Written without SweepTopology's ranges. */
std::uint64_t messages_by_definition(const SweepTopology &topology)
{
    const unsigned dimensions = topology.dimensions();
    auto is_reached = [&](std::uint32_t node, std::uint32_t to, unsigned i,
                          bool up) {
        for (unsigned j = 0; j < i; j++) {
            if (topology.coordinate(node, j) != topology.coordinate(to, j)) {
                return false;
            }
        }
        return up ? topology.coordinate(node, i) >= topology.coordinate(to, i)
                  : topology.coordinate(node, i) <= topology.coordinate(to, i);
    };
    std::uint64_t count = 0;
    for (std::uint32_t from = 0; from < topology.places(); from++) {
        for (std::uint32_t to = 0; to < topology.places(); to++) {
            int distance = 0;
            unsigned where = 0;
            for (unsigned i = 0; i < dimensions; i++) {
                const int apart =
                    std::abs(static_cast<int>(topology.coordinate(from, i)) -
                             static_cast<int>(topology.coordinate(to, i)));
                distance += apart;
                where = apart != 0 ? i : where;
            }
            bool used = false;
            for (std::uint32_t node = 0;
                 distance == 1 && node < topology.nodes(); node++) {
                used = used || is_reached(node, to, where, from < to);
            }
            count += used && topology.host(from) != topology.host(to) ? 1 : 0;
        }
    }
    return count;
}

class Nodes : public testing::TestWithParam<std::uint32_t>
{
};

TEST_P(Nodes, EachLearnsTheSumsForItsRanks)
{
    for (const SweepTopology &topology : topologies(GetParam())) {
        SCOPED_TRACE(topology.name());
        for (unsigned seed = 0; seed < 2; seed++) {
            SimulatedSweep sweep(topology, GetParam() * 100 + seed);
            sweep.run();
            sweep.expect_sums();
            EXPECT_EQ(sweep.sent, topology.count_messages().between_nodes);
        }
    }
}

TEST_P(Nodes, SendNoMoreThanTheFormula)
{
    const std::uint32_t nodes = GetParam();
    for (const SweepTopology &topology : topologies(nodes)) {
        SCOPED_TRACE(topology.name());
        std::uint64_t formula = 0; /* 2 (k - 1) for each line */
        for (std::uint32_t side : topology.sides()) {
            formula += 2ULL * (side - 1) * (topology.places() / side);
        }
        const auto count = topology.count_messages();
        EXPECT_EQ(count.between_nodes, messages_by_definition(topology));
        EXPECT_LE(count.between_places, formula);
        EXPECT_EQ(count.between_places - count.between_nodes,
                  2 * (topology.places() - nodes));
        if (topology.places() == nodes) {
            EXPECT_EQ(count.between_nodes, formula);
        }
    }
}

TEST_P(Nodes, ShareThePlacesEvenly)
{
    for (const SweepTopology &topology : topologies(GetParam())) {
        SCOPED_TRACE(topology.name());
        std::multiset<std::uint32_t> places;
        for (std::uint32_t node = 0; node < topology.nodes(); node++) {
            const auto own = topology.places_of(node);
            EXPECT_LE(own.size(), 2U);
            EXPECT_EQ(own.front(), node);
            for (std::uint32_t place : own) {
                EXPECT_EQ(topology.host(place), node);
                places.insert(place);
            }
        }
        EXPECT_EQ(places.size(), topology.places());
        EXPECT_EQ(std::set(places.begin(), places.end()).size(),
                  topology.places());
    }
}

INSTANTIATE_TEST_SUITE_P(Sweep, Nodes, testing::Range(1U, most_nodes + 1));

TEST(SweepTopology, CountsOfChapter2)
{
    for (std::uint32_t log = 0; log <= 12; log++) {
        const std::uint32_t nodes = 1U << log;
        EXPECT_EQ(
            SweepTopology::hypercube(nodes).count_messages().between_nodes,
            std::uint64_t{nodes} * log);
    }
    for (std::uint32_t side : {2, 3, 4, 5, 7, 10}) {
        std::uint32_t lines = 1;
        for (unsigned dimensions = 1; dimensions <= 4; dimensions++) {
            const auto cube = SweepTopology::cube(lines * side, dimensions);
            EXPECT_EQ(cube.sides(),
                      std::vector<std::uint32_t>(dimensions, side));
            EXPECT_EQ(cube.count_messages().between_nodes,
                      2ULL * (side - 1) * lines * dimensions);
            lines *= side;
        }
    }
}

TEST(SweepTopology, SidesDifferLittle)
{
    for (std::uint32_t nodes = 1; nodes <= 3000; nodes++) {
        for (unsigned dimensions = 1; dimensions <= 5; dimensions++) {
            const auto cube = SweepTopology::cube(nodes, dimensions);
            ASSERT_LE(cube.dimensions(), dimensions);
            ASSERT_GE(cube.places(), nodes);
            const double even = std::pow(nodes, 1.0 / dimensions);
            for (std::uint32_t side : cube.sides()) {
                ASSERT_LE(side, std::floor(even + 1e-9) + 1) << nodes;
            }
        }
    }
}

TEST(SweepTopology, LargeOnesAreMade)
{
    EXPECT_EQ(SweepTopology::hypercube(32768).dimensions(), 15U);
    EXPECT_EQ(SweepTopology::cube(1U << 30, 3).sides(),
              std::vector<std::uint32_t>(3, 1024));
}

TEST(SweepTopology, RefusesWhatDoesNotSuit)
{
    EXPECT_THROW(SweepTopology(17, {4, 4}), Error);
    EXPECT_THROW(SweepTopology(12, {4, 4}), Error) << "an empty layer";
    EXPECT_NO_THROW(SweepTopology(13, {4, 4}));
    EXPECT_THROW(SweepTopology(4, {4, 1}), Error);
    EXPECT_THROW(SweepTopology(0, {}), Error);
    EXPECT_THROW(SweepTopology(2, {}), Error);
    EXPECT_THROW(SweepTopology::cube(4, 0), Error);
    EXPECT_THROW(SweepTopology(1U << 31, {1U << 16, 1U << 16}), Error);
}

/* Nodes 0 to 3 with one rank each; node 0's rank has cut. */
class Four : public testing::Test
{
  public:
    Four()
    {
        zero.add(RankCounts::dense({1, 2, 3, 4}));
    }

    static SweepMessage message(std::uint32_t from, std::uint32_t to,
                                std::uint32_t dimension,
                                const std::vector<std::uint64_t> &counts)
    {
        return {from, to, dimension, RankCounts::dense(counts)};
    }

    SweepTopology topology = SweepTopology::hypercube(4);
    SweepRanks ranks{{1, 1, 1, 1}};
    Sweep zero{topology, ranks, 0};
};

TEST_F(Four, GoThroughTheDimensionsInOrder)
{
    auto first = zero.take_messages();
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].to, 2U);
    EXPECT_EQ(first[0].counts, RankCounts::dense({0, 0, 3, 4}));

    zero.receive(message(1, 0, 1, {10})); /* early */
    EXPECT_TRUE(zero.take_messages().empty());
    EXPECT_FALSE(zero.complete());

    zero.receive(message(2, 0, 0, {100, 200}));
    auto second = zero.take_messages();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].to, 1U);
    EXPECT_EQ(second[0].counts, RankCounts::dense({0, 202}));
    EXPECT_TRUE(zero.complete());
    EXPECT_EQ(zero.expected(), RankCounts::dense({111}));
}

TEST_F(Four, RefuseWhatIsNotForThem)
{
    EXPECT_THROW(zero.receive(message(3, 0, 0, {1})), Error) << "no neighbour";
    EXPECT_THROW(zero.receive(message(1, 0, 0, {1})), Error) << "dimension";
    EXPECT_THROW(zero.receive(message(0, 2, 0, {1})), Error) << "not its place";
    EXPECT_THROW(zero.receive(message(1, 0, 2, {1})), Error);
    EXPECT_THROW(zero.receive(message(9, 0, 0, {1})), Error);
    EXPECT_THROW(zero.receive(message(2, 0, 0, {1, 1, 1})), Error)
        << "counts for a rank behind";
    EXPECT_THROW(zero.add({}), Error) << "more cuts than ranks";
}

TEST_F(Four, RefuseAMessageThatComesTwice)
{
    zero.receive(message(1, 0, 1, {10}));
    EXPECT_THROW(zero.receive(message(1, 0, 1, {10})), Error) << "early";
    zero.receive(message(2, 0, 0, {100}));
    EXPECT_THROW(zero.receive(message(2, 0, 0, {100})), Error) << "late";
}

TEST(Sweep, OfALineWaitsForOneSideOnly)
{
    const SweepTopology line(3, {3});
    const SweepRanks ranks({1, 1, 1});
    Sweep middle(line, ranks, 1);
    middle.receive({0, 1, 0, RankCounts::dense({0, 5, 6})});
    EXPECT_TRUE(middle.take_messages().empty()) << "its rank has not cut";

    middle.add(RankCounts::dense({10, 20, 30}));
    auto up = middle.take_messages();
    ASSERT_EQ(up.size(), 1U);
    EXPECT_EQ(up[0].to, 2U);
    EXPECT_EQ(up[0].counts, RankCounts::dense({0, 0, 36}));
    EXPECT_THROW(middle.receive({0, 1, 0, {}}), Error) << "twice";

    middle.receive({2, 1, 0, RankCounts::dense({100, 200})});
    auto down = middle.take_messages();
    ASSERT_EQ(down.size(), 1U);
    EXPECT_EQ(down[0].to, 0U);
    EXPECT_EQ(down[0].counts, RankCounts::dense({110}));
    EXPECT_EQ(middle.expected(), RankCounts::dense({0, 225}));
}

/* The comparison with the sums matters: two messages of one dimension with
 * swapped contents change the sums. */
TEST(Sweep, ContentsMatter)
{
    const auto topology = SweepTopology::hypercube(2);
    const SweepRanks ranks({2, 2});
    Sweep left(topology, ranks, 0);
    Sweep right(topology, ranks, 1);
    left.add(RankCounts::dense({1, 2, 3, 4}), 2);
    right.add(RankCounts::dense({5, 6, 7, 8}), 2);
    SweepMessage message = left.take_messages().at(0);
    message.counts = RankCounts::dense({0, 0, 4, 3});
    right.receive(message);
    EXPECT_NE(right.expected(), RankCounts::dense({0, 0, 10, 12}));
    EXPECT_EQ(right.expected(), RankCounts::dense({0, 0, 11, 11}));
}

} // namespace

} // namespace ckpt
