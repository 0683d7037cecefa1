/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fence_gathering.cpp - fences of worlds on three nodes.
 */
#include "common/error.hpp"
#include "world/fence_gathering.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using namespace ckpt::world;

namespace
{

using Nodes = std::vector<std::size_t>;

/* Node 0 has ranks 0 and 3, node 1 has 1 and 4, node 2 has 2. */
World three_nodes(const std::string &name)
{
    World world;
    world.name = name;
    world.nodes = {{"n0", {0, 3}}, {"n1", {1, 4}}, {"n2", {2}}};
    return world;
}

class Fences : public testing::Test
{
  protected:
    Fences() { gathering_.add(three_nodes("ckpt-a")); }

    std::optional<FenceGathering::Answer> take(std::size_t node, const std::string &data,
                                               std::vector<int> ranks = {},
                                               std::uint64_t number = 0,
                                               const std::string &name = "ckpt-a")
    {
        return gathering_.take(node, {{name, std::move(ranks), number}, data});
    }

    FenceGathering gathering_{100};
};

} // namespace

TEST_F(Fences, AllNodesGetTheDataOfAll)
{
    EXPECT_FALSE(take(2, "two"));
    EXPECT_FALSE(take(0, "zero"));
    EXPECT_EQ(gathering_.waiting(), 1);
    const auto answer = take(1, std::string("\0one", 4));
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->result.is_complete);
    EXPECT_EQ(answer->result.id, (FenceId{"ckpt-a", {}, 0}));
    EXPECT_EQ(answer->result.data, std::string("zero\0onetwo", 11));
    EXPECT_EQ(answer->nodes, (Nodes{0, 1, 2}));
    EXPECT_EQ(gathering_.waiting(), 0);
}

TEST_F(Fences, OnlyNodesWithRanksOfTheFenceTakePart)
{
    EXPECT_FALSE(take(1, "b", {2, 4}));
    const auto answer = take(2, "c", {2, 4});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->result.data, "bc");
    EXPECT_EQ(answer->nodes, (Nodes{1, 2}));
}

TEST_F(Fences, SeveralAreUnderWayAtOnce)
{
    EXPECT_FALSE(take(0, "a", {0, 1}));
    EXPECT_FALSE(take(0, "b", {3, 4}));
    EXPECT_FALSE(take(2, "c"));
    EXPECT_EQ(gathering_.waiting(), 3);
    EXPECT_EQ(take(1, "B", {3, 4})->result.data, "bB");
    EXPECT_EQ(take(1, "A", {0, 1})->result.data, "aA");
    EXPECT_EQ(gathering_.waiting(), 1);
}

TEST_F(Fences, ANodeMayBeInTheNextOneAlready)
{
    EXPECT_FALSE(take(0, "1", {0, 1}, 1));
    EXPECT_FALSE(take(0, "0", {0, 1}, 0));
    EXPECT_EQ(take(1, "", {0, 1}, 0)->result.data, "0");
    EXPECT_EQ(take(1, "", {0, 1}, 1)->result.data, "1");
}

TEST_F(Fences, WorldsAreSeparate)
{
    gathering_.add(three_nodes("ckpt-b"));
    for (std::size_t node : {0, 1}) {
        EXPECT_FALSE(take(node, "a"));
        EXPECT_FALSE(take(node, "b", {}, 0, "ckpt-b"));
    }
    gathering_.forget("ckpt-a");
    EXPECT_THROW(take(2, "a"), Error);
    EXPECT_EQ(take(2, "b", {}, 0, "ckpt-b")->result.data, "bbb");
    gathering_.forget("ckpt-a"); /* harmless */
    EXPECT_THROW(gathering_.add(three_nodes("ckpt-b")), Error);
}

TEST_F(Fences, FailWhenANodeIsLost)
{
    EXPECT_FALSE(take(0, "a"));
    EXPECT_FALSE(take(1, "b"));
    EXPECT_FALSE(take(0, "c", {0, 1}));
    const auto answers = gathering_.lose("ckpt-a", 2);
    ASSERT_EQ(answers.size(), 1);
    EXPECT_FALSE(answers[0].result.is_complete);
    EXPECT_TRUE(answers[0].result.data.empty());
    EXPECT_EQ(answers[0].nodes, (Nodes{0, 1}));
    EXPECT_TRUE(gathering_.lose("ckpt-a", 2).empty());  /* once */
    EXPECT_EQ(take(1, "d", {0, 1})->result.data, "cd"); /* without that node */
    EXPECT_EQ(gathering_.waiting(), 0);
}

TEST_F(Fences, ALostNodeThatHasComeFailsItToo)
{
    EXPECT_FALSE(take(2, "c"));
    EXPECT_FALSE(take(0, "a"));
    const auto answers = gathering_.lose("ckpt-a", 2);
    ASSERT_EQ(answers.size(), 1);
    EXPECT_EQ(answers[0].nodes, Nodes{0});
    const auto late = take(1, "b");
    ASSERT_TRUE(late);
    EXPECT_FALSE(late->result.is_complete);
    EXPECT_EQ(late->nodes, Nodes{1});
    EXPECT_FALSE(take(0, "a", {}, 1)->result.is_complete); /* begun later: each fails at once */
    EXPECT_FALSE(take(1, "b", {}, 1)->result.is_complete);
}

TEST_F(Fences, DataIsLimited)
{
    EXPECT_FALSE(take(0, std::string(60, 'x')));
    const auto answer = take(1, std::string(41, 'x'));
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->result.is_complete);
    EXPECT_EQ(answer->nodes, (Nodes{0, 1}));
    EXPECT_EQ(take(2, "")->nodes, Nodes{2});
    EXPECT_FALSE(take(0, std::string(50, 'x'), {0, 1}));
    EXPECT_TRUE(take(1, std::string(50, 'x'), {0, 1})->result.is_complete);
}

TEST_F(Fences, WrongPartsChangeNothing)
{
    EXPECT_FALSE(take(0, "a"));
    EXPECT_THROW(take(0, "again"), Error);
    EXPECT_THROW(take(3, "of no node"), Error);
    EXPECT_THROW(take(2, "of others", {0, 1}), Error);
    EXPECT_THROW(take(1, "not in order", {1, 0}), Error);
    EXPECT_THROW(take(1, "twice", {1, 1}), Error);
    EXPECT_THROW(take(1, "not in the world", {1, 5}), Error);
    EXPECT_THROW(take(1, "unknown", {}, 0, "ckpt-c"), Error);
    EXPECT_EQ(gathering_.waiting(), 1);
    EXPECT_FALSE(take(1, "b"));
    EXPECT_EQ(take(2, "c")->result.data, "abc");
}

TEST_F(Fences, TheirNumberIsLimited)
{
    for (std::uint64_t number = 0; number < 1024; number++) {
        EXPECT_FALSE(take(0, "", {}, number));
    }
    EXPECT_THROW(take(0, "", {}, 1024), Error);
    EXPECT_FALSE(take(1, "", {}, 1023));
    EXPECT_TRUE(take(2, "", {}, 1023));
    EXPECT_FALSE(take(0, "", {}, 1024));
}
