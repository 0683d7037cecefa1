/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_binding.cpp - the processors of ranks.
 */
#include "common/error.hpp"
#include "launch/binding.hpp"

#include <gtest/gtest.h>

#include <sched.h>

using namespace ckpt;
using namespace ckpt::launch;

namespace
{

using Sets = std::vector<std::vector<int>>;

/* Two packages, each with two NUMA nodes, of two cores with two processors. */
const char *const large = "pack:2 numa:2 core:2 pu:2";

Sets bound(BindTo what, int ranks, const std::string &allowed = "")
{
    return bind_ranks(what, ranks, {large, allowed});
}

} // namespace

TEST(Binding, ByDefaultAsMpirun)
{
    EXPECT_EQ(bound(BindTo::automatic, 1), (Sets{{0, 1}}));
    EXPECT_EQ(bound(BindTo::automatic, 2), (Sets{{0, 1}, {2, 3}}));
    EXPECT_EQ(bound(BindTo::automatic, 3), (Sets{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
    EXPECT_EQ(bound(BindTo::automatic, 8)[5], (std::vector{4, 5, 6, 7}));
    EXPECT_EQ(bound(BindTo::automatic, 9), Sets(9)); /* oversubscribed */
}

TEST(Binding, AsRequested)
{
    EXPECT_EQ(bound(BindTo::none, 2), Sets(2));
    EXPECT_EQ(bound(BindTo::core, 3)[2], (std::vector{4, 5}));
    EXPECT_EQ(bound(BindTo::numa, 5)[4], (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(bound(BindTo::socket, 2)[1], (std::vector{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_THROW((void)bound(BindTo::core, 9), Error);
}

TEST(Binding, OnlyAllowedProcessorsAreUsed)
{
    EXPECT_EQ(bound(BindTo::automatic, 2, "3-5"), (Sets{{3}, {4, 5}}));
    EXPECT_EQ(bound(BindTo::socket, 2, "1,9"), (Sets{{1}, {9}}));
    EXPECT_EQ(bound(BindTo::automatic, 2, "6-7"), Sets(2)); /* one core */
}

TEST(Binding, PackagesOfOneMemory)
{
    EXPECT_EQ(bind_ranks(BindTo::automatic, 3, {"numa:1 pack:2 core:2 pu:1", ""}),
              (Sets{{0, 1}, {2, 3}, {0, 1}}));
}

TEST(Binding, ThisNodeHasTheProcessorsOfThisProcess)
{
    cpu_set_t own;
    ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
    const auto sets = bind_ranks(BindTo::core, 1);
    ASSERT_FALSE(sets.at(0).empty());
    for (int processor : sets.at(0)) {
        EXPECT_TRUE(CPU_ISSET(processor, &own)) << processor;
    }
}
