/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cut_choice.cpp - table 4.3, applied.
 */
#include "protocol/cut_choice.hpp"

#include "common/error.hpp"

#include <gtest/gtest.h>

namespace ckpt
{

namespace
{

constexpr std::uint64_t memory = 1u << 30;

TEST(CutChoice, WhatTheUserSaysHolds)
{
    CutChoice choice(Protocol::chandy_lamport, Stagger::job);

    choice.learn({Stagger::job, 8, 8, memory, memory});
    EXPECT_EQ(choice.protocol(), Protocol::chandy_lamport);
    EXPECT_EQ(choice.stagger(), Stagger::job);
}

TEST(CutChoice, WordsAreThoseOfTheOptions)
{
    EXPECT_EQ(CutChoice::protocol_from("ns"), Protocol::network_sweep);
    EXPECT_EQ(CutChoice::protocol_from("auto"), std::nullopt);
    EXPECT_EQ(CutChoice::stagger_from("no"), Stagger::no);
    EXPECT_EQ(CutChoice::stagger_from("node"), Stagger::node);
    EXPECT_EQ(CutChoice::stagger_from("storage"), Stagger::storage);
    EXPECT_EQ(CutChoice::stagger_from("job"), Stagger::job);
    EXPECT_EQ(CutChoice::stagger_from("auto"), std::nullopt);
    EXPECT_THROW(CutChoice::protocol_from("ses"), Error);
    EXPECT_THROW(CutChoice::stagger_from("yes"), Error);
}

class Automatic : public testing::Test
{
  public:
    void checkpoint(int waiting, std::uint64_t logged_bytes)
    {
        choice.learn({choice.stagger(), 8, waiting, memory, logged_bytes});
    }

    CutChoice choice{std::nullopt, std::nullopt};
};

TEST_F(Automatic, SweepsAndIsCarefulAtFirst)
{
    EXPECT_EQ(choice.protocol(), Protocol::network_sweep);
    EXPECT_EQ(choice.stagger(), Stagger::no);
}

TEST_F(Automatic, LooseProgramsAreStaggered)
{
    checkpoint(0, 0);
    EXPECT_EQ(choice.stagger(), Stagger::storage);
}

TEST_F(Automatic, TightProgramsAreNot)
{
    checkpoint(8, 0);
    EXPECT_EQ(choice.stagger(), Stagger::no);
}

TEST_F(Automatic, NorThoseWhoseMessagesAreLarge)
{
    int staggered = 0;

    checkpoint(0, 0);
    for (int i = 0; i < 100; i++) {
        bool is_staggered = choice.stagger() == Stagger::storage;
        staggered += is_staggered ? 1 : 0;
        checkpoint(0, is_staggered ? memory / 10 : 0);
    }
    EXPECT_GE(staggered, 3); /* tried again, with growing pauses */
    EXPECT_LE(staggered, 8);
}

TEST_F(Automatic, APhaseOfLargeMessagesIsForgotten)
{
    checkpoint(0, 0);
    checkpoint(0, memory);
    EXPECT_EQ(choice.stagger(), Stagger::no);
    checkpoint(0, 0);
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(choice.stagger(), Stagger::storage);
        checkpoint(0, 0);
    }
}

} // namespace

} // namespace ckpt
