/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_writing_turns.cpp - the order in which nodes write their pieces.
 */
#include "agent/coordinator/writing_turns.hpp"
#include "tests/agent/fake_node.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using test::FakeNode;

namespace
{

/* Ranks 0 and 2 on the first node, 1 and 3 on the second one, 4 on the third one. */
class Turns : public testing::Test
{
  protected:
    const std::filesystem::path directory_ = "/job/7";
    FakeNode a_{"a"}, b_{"b"}, c_{"c"};
    const std::vector<Node *> nodes_{&a_, &b_, &a_, &b_, &c_};
    const std::vector<std::uint64_t> snapshots_{100, 101, 102, 103, 104};

    WritingTurns turns(const Lanes &lanes) const { return {lanes, nodes_, snapshots_}; }

    /* Returns how many orders each node has got. */
    std::vector<std::size_t> orders() const
    {
        return {a_.captures.size(), b_.captures.size(), c_.captures.size()};
    }
};

using Orders = std::vector<std::size_t>;

TEST_F(Turns, NodesOfDifferentLanesWriteAtTheSameTime)
{
    WritingTurns turns = this->turns({{0, 2}, {1, 3}, {4}});
    EXPECT_EQ(Orders({0, 0, 0}), orders());
    turns.begin(directory_);
    ASSERT_EQ(Orders({1, 1, 1}), orders());
    EXPECT_EQ(directory_, a_.captures[0].first);
    EXPECT_EQ(RankSnapshots({{0, 100}, {2, 102}}), a_.captures[0].second);
    EXPECT_EQ(RankSnapshots({{1, 101}, {3, 103}}), b_.captures[0].second);
    EXPECT_EQ(RankSnapshots({{4, 104}}), c_.captures[0].second);
    turns.end(a_);
    EXPECT_EQ(Orders({1, 1, 1}), orders());
}

TEST_F(Turns, NodesOfOneLaneWriteOneAfterAnother)
{
    WritingTurns turns = this->turns({{3, 0, 1, 4, 2}});
    turns.begin(directory_);
    ASSERT_EQ(Orders({0, 1, 0}), orders());
    EXPECT_EQ(RankSnapshots({{3, 103}, {1, 101}}), b_.captures[0].second); /* as in the lane */
    turns.end(b_);
    ASSERT_EQ(Orders({1, 1, 0}), orders());
    EXPECT_EQ(directory_, a_.captures[0].first);
    EXPECT_EQ(RankSnapshots({{0, 100}, {2, 102}}), a_.captures[0].second);
    turns.end(a_);
    ASSERT_EQ(Orders({1, 1, 1}), orders());
    turns.end(c_);
    EXPECT_EQ(Orders({1, 1, 1}), orders());
}

TEST_F(Turns, ANodeThatDoesNotWriteEndsNoTurn)
{
    WritingTurns turns = this->turns({{0, 1, 2, 3}, {4}});
    turns.begin(directory_);
    turns.end(b_);
    turns.end(c_);
    EXPECT_EQ(Orders({1, 0, 1}), orders());
    turns.end(a_);
    EXPECT_EQ(Orders({1, 1, 1}), orders());
}

TEST_F(Turns, ALostNodeGetsNoOrder)
{
    WritingTurns turns = this->turns({{0, 1, 2, 3, 4}});
    turns.begin(directory_);
    turns.drop(b_);
    turns.end(a_);
    EXPECT_EQ(Orders({1, 0, 1}), orders());
}

/* The checkpoint has failed: the other nodes do not write any more. */
TEST_F(Turns, TheLossOfTheWritingNodeBeginsNoTurn)
{
    WritingTurns turns = this->turns({{0, 1, 2, 3, 4}});
    turns.begin(directory_);
    turns.drop(a_);
    EXPECT_EQ(Orders({1, 0, 0}), orders());
    turns.end(a_);
    EXPECT_EQ(Orders({1, 0, 0}), orders());
}

TEST_F(Turns, WithoutLanesNobodyWrites)
{
    WritingTurns turns;
    turns.begin(directory_);
    turns.end(a_);
    turns.drop(a_);
    EXPECT_EQ(Orders({0, 0, 0}), orders());
}

} // namespace
