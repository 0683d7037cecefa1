/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_tiers.cpp - two directories of checkpoints as one.
 */
#include "config.h"
#include "image/tiers.hpp"

#include "tests/child_process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace ckpt;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

class TiersTest : public testing::Test
{
  protected:
    static void commit(const Store &store, std::uint64_t number)
    {
        fs::path directory = store.begin_checkpoint("job", number);
        std::ofstream(directory / "node-a.h5") << "piece";
        Manifest manifest;
        manifest.job = "job";
        manifest.number = number;
        manifest.created = static_cast<std::int64_t>(number);
        manifest.rank_count = 1;
        manifest.pieces = {{"node-a.h5", "a", 5, 0, {0}}};
        manifest.write(directory);
    }

    Tiers tiers() const { return *Tiers::open(directories); }

    fs::path resolved(const std::string &word) const
    {
        return tiers().resolve(word).directory.parent_path().parent_path();
    }

    ScratchDirectory scratch;
    TierDirectories directories{scratch / "fast", scratch / "slow"};
    Store fast = Store::create(directories.fast), slow = Store::create(directories.slow);
};

} // namespace

TEST(TierDirectories, AreOneOrTwo)
{
    auto one = TierDirectories::parse("/a/b/../c/");
    EXPECT_EQ(one.fast, "/a/c");
    EXPECT_FALSE(one.has_slow());
    EXPECT_EQ(one.text(), "/a/c");
    auto two = TierDirectories::parse("/a,b");
    EXPECT_EQ(two.fast, "/a");
    EXPECT_EQ(two.slow, fs::current_path() / "b");
    EXPECT_EQ(TierDirectories::parse(two.text()).text(), two.text());
    for (const char *text : {",", "/a,", ",/a", "/a,/b,/c", "/a,/a", "/a,/a/b", "/a/b,/a"}) {
        EXPECT_THROW(TierDirectories::parse(text), Error) << text;
    }
    EXPECT_NO_THROW(TierDirectories::parse("/a/b,/a/bc"));
}

TEST_F(TiersTest, TheFastOneIsTaken)
{
    commit(slow, 1);
    commit(slow, 2);
    commit(fast, 2);
    commit(fast, 3);
    EXPECT_EQ(resolved(""), directories.fast);
    EXPECT_EQ(tiers().resolve("job").number, 3u);
    EXPECT_EQ(resolved("job/2"), directories.fast);
    EXPECT_EQ(resolved("job/1"), directories.slow);
    EXPECT_EQ(tiers().newest_committed("job")->number, 3u);
    auto all = tiers().checkpoints("job");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_TRUE(!all[0].is_in_fast && all[0].is_in_slow);
    EXPECT_TRUE(all[1].is_in_fast && all[1].is_in_slow);
    EXPECT_TRUE(all[2].is_in_fast && !all[2].is_in_slow);
}

TEST_F(TiersTest, TheOneThatIsWholeIsTaken)
{
    commit(fast, 1);
    commit(slow, 1);
    fs::remove(fast.directory_of("job", 1) / "node-a.h5");
    EXPECT_EQ(resolved("job/1"), directories.slow);
    EXPECT_EQ(resolved("job"), directories.slow);
    EXPECT_EQ(resolved(""), directories.slow);
    auto all = tiers().checkpoints("job");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].checkpoint.state, Checkpoint::State::committed);
    EXPECT_FALSE(all[0].is_in_fast);
}

TEST_F(TiersTest, WhatIsOnItsWayIsNotThere)
{
    commit(fast, 1);
    slow.begin_checkpoint("job", 1);
    EXPECT_FALSE(tiers().checkpoints("job")[0].is_in_slow);
    EXPECT_EQ(resolved("job/1"), directories.fast);
    fs::remove_all(fast.directory_of("job", 1));
    EXPECT_NE(error_of([&] { tiers().resolve("job/1"); }).find("incomplete"),
              std::string::npos);
}

TEST_F(TiersTest, OneMayBeMissing)
{
    commit(slow, 1);
    fs::remove_all(directories.fast);
    EXPECT_EQ(resolved("job"), directories.slow);
    EXPECT_TRUE(tiers().checkpoints("job")[0].is_in_slow);
    EXPECT_FALSE(tiers().checkpoints("job")[0].is_in_fast);
    fs::remove_all(directories.slow);
    EXPECT_FALSE(Tiers::open(directories));
}

TEST_F(TiersTest, TheLastLaunchCounts)
{
    fast.write_job_state({"job", "running", "elsewhere", 1, 2, "/s", 5});
    slow.write_job_state({"job", "ended", "elsewhere", 1, 2, "/s", 9});
    slow.write_job_state({"other", "ended", "elsewhere", 1, 2, "/s", 9});
    EXPECT_EQ(tiers().job_state("job")->started, 9);
    EXPECT_TRUE(tiers().is_live("job"));
    EXPECT_FALSE(tiers().is_live("other"));
    EXPECT_EQ(tiers().jobs(), (std::vector<std::string>{"job", "other"}));
}

TEST_F(TiersTest, WhatIsNotNeededGoes)
{
    for (std::uint64_t number = 1; number <= 5; number++) {
        commit(fast, number);
    }
    fast.discard("job", 5, {3});
    auto left = fast.checkpoints("job");
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left[0].number, 3u);
    EXPECT_EQ(left[1].number, 5u);
}
