/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_tiers.cpp - two directories of checkpoints that act as one.
 */
#include "config.h"
#include "common/host.hpp"
#include "image/store/job_owner.hpp"
#include "image/store/node_garbage.hpp"
#include "image/store/node_record.hpp"
#include "image/store/tiers.hpp"

#include "tests/common/child_process.hpp"

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
    auto odd = TierDirectories::parse("/a\\,b,/c\\d\\,");
    EXPECT_EQ(odd.fast, "/a,b");
    EXPECT_EQ(odd.slow, "/c\\d,");
    EXPECT_EQ(TierDirectories::parse(odd.text()).text(), odd.text());
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
    EXPECT_FALSE(tiers().is_live("job"));
    {
        const JobOwnership owner(directories.slow / "job", {.token = "launch"},
                                 JobOwnership::Take::ask);
        EXPECT_TRUE(tiers().is_live("job"));
        EXPECT_FALSE(tiers().is_live("other"));
    }
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

namespace
{

/* Checkpoints on this node and on a second one called n2. */
class OnNodes : public TiersTest
{
  protected:
    /* Writes a record, and this node's piece. */
    void note(std::uint64_t number, bool is_protected, bool is_here = true,
              const std::string &other = "n2") const
    {
        Manifest manifest;
        manifest.job = "job";
        manifest.number = number;
        manifest.created = static_cast<std::int64_t>(number);
        manifest.rank_count = 2;
        manifest.pieces = {{"node-a.h5", host_name(), 5, 0, {0}},
                           {"node-b.h5", other, 5, 0, {1}}};
        if (is_here) {
            std::ofstream(memory.begin_checkpoint("job", number) / "node-a.h5") << "piece";
        }
        NodeRecord{manifest, memory.directory_of("job", number),
                   is_protected ? nlohmann::json{{"scheme", "partner"}} : nlohmann::json()}
            .write(slow.directory() / "job");
    }

    /* The directory that all nodes see has all the information. */
    Tiers lasting() const { return *Tiers::open({slow.directory(), {}}); }

    static std::vector<std::uint64_t> numbers(const std::vector<Checkpoint> &checkpoints)
    {
        std::vector<std::uint64_t> found;
        for (const Checkpoint &checkpoint : checkpoints) {
            found.push_back(checkpoint.number);
        }
        return found;
    }

    Store memory = Store::create(scratch / "memory");
};

using Numbers = std::vector<std::uint64_t>;

} // namespace

TEST_F(OnNodes, WhatIsOlderThanTheSureOnesIsGarbage)
{
    for (std::uint64_t number : {1, 2, 3}) {
        note(number, true);
    }
    /* It is unknown whether n2 has its piece. */
    note(4, false);
    EXPECT_EQ(numbers(node_garbage(lasting(), "job", 1).noted), (Numbers{2, 1}));
    EXPECT_EQ(numbers(node_garbage(lasting(), "job", 2).noted), (Numbers{1}));
    EXPECT_EQ(numbers(node_garbage(lasting(), "job", 3).noted), (Numbers{}));
    EXPECT_EQ(node_garbage(lasting(), "job", 1).needed,
              (std::set<fs::path>{memory.directory_of("job", 3), memory.directory_of("job", 4)}));
}

TEST_F(OnNodes, TheNewestThatMayBeOfUseStays)
{
    note(1, false);
    note(2, false);
    EXPECT_TRUE(node_garbage(lasting(), "job", 1).noted.empty()) << "none is sure";
    note(3, true, false);
    EXPECT_TRUE(node_garbage(lasting(), "job", 1).noted.empty()) << "this node has lost it";
    commit(slow, 4);
    EXPECT_EQ(numbers(node_garbage(lasting(), "job", 1).noted), (Numbers{3, 2, 1}));
    EXPECT_TRUE(node_garbage(lasting(), "job", 2).noted.empty());
}

TEST_F(OnNodes, OneThatIsAllHereNeedsNoProtection)
{
    note(1, false);
    note(2, false);
    Manifest manifest = NodeRecord::load(slow.directory() / "job", 2).manifest;
    std::ofstream(memory.directory_of("job", 2) / "node-b.h5") << "piece";
    manifest.write(memory.directory_of("job", 2));
    EXPECT_EQ(numbers(node_garbage(lasting(), "job", 1).noted), (Numbers{1}));
}

TEST_F(OnNodes, ARecordGoesBeforeWhatIsHere)
{
    note(1, true);
    note(2, true);
    const auto garbage = node_garbage(lasting(), "job", 1);
    ASSERT_EQ(garbage.noted.size(), 1u);
    remove_noted(lasting(), garbage.noted[0]);
    EXPECT_EQ(NodeRecord::numbers(slow.directory() / "job"), (Numbers{2}));
    EXPECT_FALSE(fs::exists(memory.directory_of("job", 1)));
    EXPECT_TRUE(fs::exists(memory.directory_of("job", 2) / "node-a.h5"));
}

/* As on a node on which gc has not run yet. */
TEST_F(OnNodes, WhatIsLeftBehindIsFoundByTheRecordsThatStay)
{
    for (std::uint64_t number : {1, 2, 3}) {
        note(number, number == 2);
    }
    NodeRecord::remove(slow.directory() / "job", 1);
    /* This checkpoint is being written. */
    fs::create_directory(memory.directory_of("job", 4));
    const auto garbage = node_garbage(lasting(), "job", 1);
    EXPECT_TRUE(garbage.noted.empty());
    ASSERT_EQ(numbers(garbage.left), (Numbers{1}));
    remove_left(garbage.left[0]);
    EXPECT_FALSE(fs::exists(memory.directory_of("job", 1)));
    EXPECT_TRUE(fs::exists(memory.directory_of("job", 4)));
}

TEST_F(OnNodes, ARecordThatIsDamagedIsLeftAlone)
{
    note(1, true);
    note(2, true);
    note(3, true);
    std::ofstream(slow.directory() / "job/nodes/1.json") << "{";
    const auto garbage = node_garbage(lasting(), "job", 1);
    EXPECT_EQ(numbers(garbage.noted), (Numbers{2}));
    EXPECT_TRUE(garbage.left.empty());
}

TEST_F(OnNodes, ARecordOfAnotherPlaceIsNotFollowed)
{
    note(1, true);
    note(2, true);
    NodeRecord record = NodeRecord::load(slow.directory() / "job", 1);
    record.directory = scratch / "precious";
    fs::create_directory(record.directory);
    record.write(slow.directory() / "job");
    for (const Checkpoint &checkpoint : node_garbage(lasting(), "job", 1).noted) {
        remove_noted(lasting(), checkpoint);
    }
    EXPECT_TRUE(fs::exists(scratch / "precious"));
    EXPECT_EQ(NodeRecord::numbers(slow.directory() / "job"), (Numbers{2}));
}
