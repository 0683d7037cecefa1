/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_launch_options.cpp - command lines of ckpt-launch, and variables of ranks.
 */
#include "launch/launch_options.hpp"
#include "world/rank_environment.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

using namespace ckpt::launch;

namespace
{

LaunchOptions parsed(std::vector<std::string> words)
{
    std::vector<char *> argv;
    words.insert(words.begin(), "ckpt-launch");
    for (std::string &word : words) {
        argv.push_back(word.data());
    }
    return parse_options(static_cast<int>(argv.size()), argv.data());
}

using Words = std::vector<std::string>;

} // namespace

TEST(LaunchOptions, OptionsOfTheProgramStayWithIt)
{
    const auto options =
        parsed({"-x", "A=1 2", "-n", "3", "--wdir", "/tmp", "./app", "-n", "5", "--", "-x", "B=2"});

    EXPECT_EQ(options.ranks, 3);
    EXPECT_EQ(options.directory, "/tmp");
    EXPECT_EQ(options.variables, Words{"A=1 2"});
    EXPECT_EQ(options.program, (Words{"./app", "-n", "5", "--", "-x", "B=2"}));
}

TEST(LaunchOptions, ValuesMayHaveAnyCharacter)
{
    const auto options = parsed({"-x", "A=--b", "-x", "C=", "-x", "HOME", "-n", "1", "p"});

    EXPECT_EQ(options.bind_to, BindTo::automatic);
    EXPECT_EQ(options.variables, (Words{"A=--b", "C="})); /* HOME is inherited anyway */
    EXPECT_EQ(options.pmix, "libpmix.so.2");
}

TEST(LaunchOptions, RanksAreBound)
{
    EXPECT_EQ(parsed({"-n", "2", "--bind-to", "numa", "./app"}).bind_to, BindTo::numa);
}

TEST(LaunchOptionsDeathTest, WrongLinesEndWithTwo)
{
    for (const Words &words : std::initializer_list<Words>{{"./app"},
                                                           {"-n", "2"},
                                                           {"-n", "0", "./app"},
                                                           {"-n", "x", "./app"},
                                                           {"-n", "2", "--bind-to", "x", "./app"},
                                                           {"-n", "2", "--unknown", "./app"}}) {
        EXPECT_EXIT((void)parsed(words), testing::ExitedWithCode(2), "") << words.back();
    }
}

TEST(LaunchOptions, LaterVariablesReplaceEarlierOnes)
{
    EXPECT_EQ(ckpt::world::merged({"A=1", "B=2", "A=3"}, {"B=4", "C=5"}),
              (Words{"A=3", "B=4", "C=5"}));
    EXPECT_EQ(ckpt::world::merged({"A=1"}, {"AB=2"}), (Words{"A=1", "AB=2"}));
}
