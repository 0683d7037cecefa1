/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_write_limit.cpp - the limit of bytes written per second.
 */
#include "image/io/write_limit.hpp"

#include <gtest/gtest.h>

namespace ckpt
{

namespace
{

using namespace std::chrono_literals;

const WriteLimit::Time start{1000s};

TEST(WriteLimit, FirstBytesWaitForNothing)
{
    WriteLimit limit(100);

    EXPECT_EQ(limit.turn(start, 1000), start);
}

TEST(WriteLimit, OthersWaitForThoseBefore)
{
    WriteLimit limit(100);

    limit.turn(start, 50);
    EXPECT_EQ(limit.turn(start, 100), start + 500ms);
    EXPECT_EQ(limit.turn(start + 1s, 100), start + 1500ms);
}

TEST(WriteLimit, WhatWasNotUsedIsLost)
{
    WriteLimit limit(100);

    limit.turn(start, 50);
    EXPECT_EQ(limit.turn(start + 10s, 50), start + 10s);
    EXPECT_EQ(limit.turn(start + 10s, 50), start + 10500ms);
}

TEST(WriteLimit, NoneMeansNow)
{
    WriteLimit limit(0);

    limit.turn(start, 1u << 30);
    EXPECT_EQ(limit.turn(start, 1u << 30), start);
}

TEST(WriteLimit, WaitsNoLongerOnceCancelled)
{
    WriteLimit limit(1);
    std::atomic<bool> cancelled{true};

    limit.turn(std::chrono::steady_clock::now(), 1u << 30); /* 34 years */
    limit.wait(1, cancelled);
}

TEST(WriteLimit, WaitsForItsTurn)
{
    WriteLimit limit(1000);
    const auto begin = std::chrono::steady_clock::now();
    std::atomic<bool> cancelled{false};

    limit.wait(100, cancelled);
    limit.wait(100, cancelled);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
}

} // namespace

} // namespace ckpt
