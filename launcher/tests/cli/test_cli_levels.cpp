/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_levels.cpp - the values of --levels.
 */
#include "cli/base/levels.hpp"

#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;
using namespace std::chrono_literals;

namespace
{

TEST(Levels, AsTheManualHasThem)
{
    const Levels levels = Levels::parse("memory:every,partner:every,disk:10m");
    EXPECT_TRUE(levels.on_nodes.string().starts_with("/dev/shm/ckpt-"));
    EXPECT_EQ(levels.redundancy, "partner");
    EXPECT_EQ(levels.disk, 10min);
}

TEST(Levels, EveryMayBeLeftOutAndTheOrderIsFree)
{
    const Levels levels = Levels::parse("disk,rs2/6,local");
    EXPECT_TRUE(levels.on_nodes.string().starts_with("/var/tmp/ckpt-"));
    EXPECT_EQ(levels.redundancy, "rs2/6");
    EXPECT_EQ(levels.disk, 0s);
    EXPECT_EQ(Levels::parse("memory,disk").redundancy, "none");
}

TEST(Levels, WhatIsNoLevel)
{
    for (const char *text : {"", ",", "memory", "disk:10m", "partner,disk", "memory,disk:soon",
                             "memory,local,disk", "memory,partner,parity,disk",
                             "memory:10m,disk", "memory,partner:1h,disk", "memory,disk,disk",
                             "memory,rs0,disk", "memory,parity/1,disk", "memory,disk,"}) {
        EXPECT_NE(error_of([&] { (void)Levels::parse(text); }), "") << text;
    }
}

/* The message also gives the reason, as the manual does. */
TEST(Levels, DoNotDoWithoutADisk)
{
    const std::string why = error_of([&] { (void)Levels::parse("memory,partner"); });
    EXPECT_NE(why.find("a level disk is missing"), std::string::npos) << why;
    EXPECT_NE(why.find("disk:24h"), std::string::npos) << why;
}

} // namespace
