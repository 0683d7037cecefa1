/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_store.cpp - the checkpoint directory: complete checkpoints, and garbage.
 */
#include "config.h"
#include "image/store/store.hpp"

#include "common/durations.hpp"
#include "common/files/files.hpp"
#include "image/store/job_directory.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

using namespace ckpt;
using namespace ckpt::test;
namespace fs = std::filesystem;

/* The path for which a file server does not report the type; empty: none. */
static std::string untold;

extern "C" int stat(const char *path, struct stat *status) noexcept
{
    if (!untold.empty() && untold == path) {
        errno = ESTALE;
        return -1;
    }
    return ::fstatat(AT_FDCWD, path, status, 0);
}

namespace
{

class StoreTest : public testing::Test
{
  protected:
    StoreTest()
        : store_(Store::create(scratch_ / "ckpt")) {}

    /* Commits a checkpoint with one piece of a few bytes. */
    fs::path commit(const std::string &job, std::uint64_t number,
                    std::int64_t created = 0)
    {
        fs::path directory = store_.begin_checkpoint(job, number);
        std::ofstream(directory / "node-a.h5") << "piece";
        Manifest manifest;
        manifest.job = job;
        manifest.number = number;
        manifest.created = created;
        manifest.rank_count = 1;
        manifest.pieces = {{"node-a.h5", "a", 5, 0, {0}}};
        manifest.write(directory);
        return directory;
    }

    std::string error_resolving(const std::string &word)
    {
        return error_of([&] { (void)store_.resolve(word); });
    }

    std::vector<std::string> names_of(const std::string &job)
    {
        std::vector<std::string> names;
        for (const Checkpoint &checkpoint : store_.checkpoints(job)) {
            names.push_back(checkpoint.name());
        }
        return names;
    }

    JobState job_of(const std::string &name, pid_t agent)
    {
        char host[256] = {};
        ::gethostname(host, sizeof(host) - 1);
        return {name, "running", host, 77, agent, "/run/x", 5};
    }

    ScratchDirectory scratch_;
    Store store_;
};

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_F(StoreTest, IsPrivate)
{
    commit("a", 1);
    for (const char *name : {"ckpt", "ckpt/a", "ckpt/a/000001"}) {
        struct stat status;
        ASSERT_EQ(::stat((scratch_ / name).c_str(), &status), 0) << name;
        EXPECT_EQ(status.st_mode & 07777, 0700u) << name;
    }
    EXPECT_TRUE(contains(error_of([&] { Store(scratch_ / "none"); }),
                         "there is no checkpoint directory"));
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown((scratch_ / "ckpt").c_str(), 12345, 12345), 0);
        EXPECT_TRUE(contains(error_of([&] { Store(scratch_ / "ckpt"); }),
                             "belongs to uid 12345"));
    }
}

TEST_F(StoreTest, NumbersDoNotBeginAgain)
{
    store_.begin_checkpoint("b", UINT64_MAX - 1);
    EXPECT_EQ(store_.next_number("b"), UINT64_MAX);
    store_.begin_checkpoint("b", UINT64_MAX);
    EXPECT_TRUE(contains(error_of([&] { (void)store_.next_number("b"); }),
                         "no checkpoint can have a number above that of "));
}

TEST_F(StoreTest, ListsJobsAndCheckpoints)
{
    EXPECT_TRUE(store_.jobs().empty());
    EXPECT_EQ(store_.next_number("b"), 1u);
    commit("b", 1);
    commit("b", 3);
    store_.begin_checkpoint("b", 4);
    commit("a", 12);
    fs::create_directory(scratch_ / "ckpt/.hidden");
    fs::create_directory(scratch_ / "ckpt/b/7"); /* not our naming */
    EXPECT_EQ(store_.jobs(), (std::vector<std::string>{"a", "b"}));
    auto found = store_.checkpoints("b");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].state, Checkpoint::State::committed);
    EXPECT_EQ(found[1].number, 3u);
    EXPECT_EQ(found[2].state, Checkpoint::State::incomplete);
    EXPECT_EQ(store_.next_number("b"), 5u);
    EXPECT_EQ(store_.newest_committed("b")->number, 3u);
    EXPECT_TRUE(store_.checkpoints("none").empty());
    EXPECT_NE(error_of([&] { store_.begin_checkpoint("b", 3); }), "");
}

TEST_F(StoreTest, FindsDamage)
{
    fs::path missing = commit("a", 1);
    fs::remove(missing / "node-a.h5");
    fs::path shorter = commit("a", 2);
    fs::resize_file(shorter / "node-a.h5", 3);
    fs::path empty = commit("a", 3);
    fs::resize_file(empty / "manifest.json", 0);
    auto found = store_.checkpoints("a");
    ASSERT_EQ(found.size(), 3u);
    const char *reasons[] = {"piece node-a.h5: No such file", "3 bytes, not 5",
                             "is empty"};
    for (std::size_t i = 0; i < 3; i++) {
        EXPECT_EQ(found[i].state, Checkpoint::State::damaged);
        EXPECT_TRUE(contains(found[i].reason, reasons[i])) << found[i].reason;
    }
    EXPECT_FALSE(store_.newest_committed("a"));
    EXPECT_TRUE(contains(error_resolving("a/3"), "damaged"));
    EXPECT_TRUE(contains(error_resolving("a"), "no committed checkpoint"));
}

TEST_F(StoreTest, ResolvesWhatUsersWrite)
{
    EXPECT_TRUE(contains(error_resolving(""), "no committed checkpoint"));
    commit("a", 1, 100);
    commit("a", 2, 200);
    commit("b", 9, 150);
    store_.begin_checkpoint("b", 10);
    EXPECT_EQ(store_.resolve("").name(), "a/2");
    EXPECT_EQ(store_.resolve("b").name(), "b/9");
    EXPECT_EQ(store_.resolve("a/1").name(), "a/1");
    EXPECT_EQ(store_.resolve("a/000001").name(), "a/1");
    EXPECT_EQ(store_.resolve(scratch_ / "ckpt/a/000001").name(), "a/1");
    EXPECT_EQ(store_.resolve(scratch_ / "ckpt/a/000001/").name(), "a/1");
    EXPECT_EQ(store_.resolve(scratch_ / "ckpt/b").name(), "b/9");
    EXPECT_TRUE(contains(error_resolving("b/10"), "incomplete"));
    EXPECT_TRUE(contains(error_resolving("b/11"), "no checkpoint '11'"));
    EXPECT_TRUE(contains(error_resolving("b/x"), "no checkpoint 'x'"));
    EXPECT_TRUE(contains(error_resolving("c"), "no checkpoint 'c'"));
    EXPECT_TRUE(contains(error_resolving("../ckpt/c"), "no checkpoint"));
    EXPECT_TRUE(contains(error_resolving(scratch_ / "ckpt/b/000010"),
                         "incomplete"));
}

TEST_F(StoreTest, CanBeMoved)
{
    commit("a", 1);
    fs::rename(scratch_ / "ckpt", scratch_ / "elsewhere");
    Store moved(scratch_ / "elsewhere");
    EXPECT_EQ(moved.resolve("").name(), "a/1");
    fs::rename(scratch_ / "elsewhere/a/000001", scratch_ / "copy");
    EXPECT_EQ(moved.resolve(scratch_ / "copy").name(), "a/1");
}

TEST_F(StoreTest, AnAgentThatWaitsToBeReapedIsDead)
{
    pid_t agent = ::fork();
    if (agent == 0) {
        ::_exit(0);
    }
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(agent), &info,
                       WEXITED | WNOWAIT),
              0);
    JobState state = job_of("a", agent);
    store_.write_job_state(state);
    EXPECT_FALSE(store_.is_live("a"));
    ::waitpid(agent, nullptr, 0);
}

TEST_F(StoreTest, KeepsTheStateOfAJob)
{
    EXPECT_FALSE(store_.job_state("a"));
    JobState state = job_of("a", ::getpid());
    store_.write_job_state(state);
    std::optional<JobState> loaded = store_.job_state("a");
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->agent_socket, "/run/x");
    EXPECT_EQ(loaded->launcher_pid, 77);
    EXPECT_EQ(loaded->started, 5);
    EXPECT_TRUE(store_.is_live("a"));
    EXPECT_FALSE(store_.is_live("none"));

    state.state = "ended";
    store_.write_job_state(state);
    EXPECT_FALSE(store_.is_live("a"));
    state.state = "running";
    state.host = "some-other-host";
    store_.write_job_state(state);
    EXPECT_TRUE(store_.is_live("a"));
    std::ofstream(scratch_ / "ckpt/a/job.json") << "{";
    EXPECT_TRUE(store_.is_live("a"));
    EXPECT_TRUE(contains(error_of([&] { (void)store_.job_state("a"); }),
                         "is not JSON"));
    for (const char *name : {"", "..", ".x", "a/b", "a b"}) {
        EXPECT_TRUE(contains(error_of([&] { require_job_name(name); }),
                             "cannot be the name"));
    }
}

TEST_F(StoreTest, GarbageIsWhatNobodyNeeds)
{
    commit("a", 1);
    /* This one was given up: 3 was committed after it. */
    store_.begin_checkpoint("a", 2);
    commit("a", 3);
    commit("a", 4);
    fs::remove(commit("a", 5) / "node-a.h5");
    store_.begin_checkpoint("a", 6); /* in progress */
    commit("b", 1);
    store_.write_job_state(job_of("a", ::getpid()));

    EXPECT_EQ(store_.collect_garbage(2).size(), 2u);
    EXPECT_EQ(names_of("a"), (std::vector<std::string>{"a/3", "a/4", "a/5", "a/6"}));
    EXPECT_EQ(names_of("b"), std::vector<std::string>{"b/1"});
    EXPECT_TRUE(store_.collect_garbage(2).empty());

    JobState ended = job_of("a", 0);
    ended.state = "ended";
    store_.write_job_state(ended);
    EXPECT_EQ(store_.collect_garbage(1, "b").size(), 0u);
    EXPECT_EQ(store_.collect_garbage(1, "a").size(), 2u);
    EXPECT_EQ(names_of("a"), (std::vector<std::string>{"a/4", "a/5"}));
    EXPECT_NE(error_of([&] { store_.collect_garbage(0); }), "");
    EXPECT_EQ(names_of("a"), (std::vector<std::string>{"a/4", "a/5"}));
}

/* Makes an existing file unreadable, as a failing file server does. */
void make_unreadable(const fs::path &file)
{
    fs::remove(file);
    fs::create_symlink(file.filename(), file); /* ELOOP */
}

TEST_F(StoreTest, WhatCannotBeReadIsNotDamaged)
{
    for (std::uint64_t number = 1; number <= 4; number++) {
        commit("a", number);
    }
    make_unreadable(store_.directory_of("a", 2) / "manifest.json");
    make_unreadable(store_.directory_of("a", 4) / "node-a.h5");
    const auto found = store_.checkpoints("a");
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[1].state, Checkpoint::State::unreadable);
    EXPECT_EQ(found[2].state, Checkpoint::State::committed);
    EXPECT_EQ(found[3].state, Checkpoint::State::unreadable);
    EXPECT_TRUE(contains(found[3].reason, "piece node-a.h5 is a link"));
    EXPECT_TRUE(contains(error_resolving("a/4"), "a/4 cannot be read"));
    EXPECT_EQ(store_.newest_committed("a")->number, 3u);
}

TEST_F(StoreTest, WhatIsOlderThanWhatCannotBeReadStays)
{
    for (std::uint64_t number = 1; number <= 5; number++) {
        commit("a", number);
    }
    make_unreadable(store_.directory_of("a", 2) / "manifest.json");
    EXPECT_EQ(store_.collect_garbage(1).size(), 2u); /* 3 and 4 */
    EXPECT_EQ(names_of("a"), (std::vector<std::string>{"a/1", "a/2", "a/5"}));
}

/* A reader refuses the link, so the piece does not count as committed; but its target may be
 * good. */
TEST_F(StoreTest, APieceThatIsALinkIsNotDamaged)
{
    const fs::path piece = commit("a", 1) / "node-a.h5";
    fs::rename(piece, scratch_ / "moved");
    fs::create_symlink(scratch_ / "moved", piece);
    EXPECT_EQ(store_.checkpoints("a").at(0).state, Checkpoint::State::unreadable);
    EXPECT_EQ(store_.checkpoints("a").at(0).reason, "piece node-a.h5 is a link");
    fs::remove(piece);
    fs::create_directory(piece);
    EXPECT_EQ(store_.checkpoints("a").at(0).state, Checkpoint::State::damaged);
    EXPECT_EQ(store_.checkpoints("a").at(0).reason, "piece node-a.h5 is not a regular file");
}

/* Otherwise a job with 7 checkpoints would count as having none, and the next one would get number
 * 1. */
TEST_F(StoreTest, AJobThatCannotBeSeenIsNotMissing)
{
    commit("a", 7);
    untold = store_.directory() / "a";
    EXPECT_TRUE(contains(error_of([&] { (void)store_.next_number("a"); }), "Stale"));
    EXPECT_TRUE(contains(error_of([&] { (void)store_.newest_committed("a"); }), "Stale"));
    EXPECT_TRUE(contains(error_of([&] { (void)store_.resolve("a/7"); }), "Stale"));
    EXPECT_EQ(store_.jobs(), std::vector<std::string>{"a"});
    untold = store_.directory_of("a", 7);
    EXPECT_EQ(store_.next_number("a"), 8u);
    untold = store_.directory();
    EXPECT_TRUE(contains(error_of([&] { Store again(store_.directory()); }), "Stale"));
    untold.clear();
    EXPECT_EQ(store_.next_number("a"), 8u);
}

TEST_F(StoreTest, WhatARestartReadsStays)
{
    for (std::uint64_t number = 1; number <= 4; number++) {
        commit("a", number);
        commit("b", number);
    }
    std::vector<std::string> removed;
    for (const Checkpoint &checkpoint : store_.garbage(1, "", {{"a", 2}}).checkpoints) {
        removed.push_back(checkpoint.name());
    }
    EXPECT_EQ(removed, (std::vector<std::string>{"a/3", "a/1", "b/3", "b/2", "b/1"}));
}

/* Names of a user's results can look like names of jobs and checkpoints. */
TEST_F(StoreTest, WhatCkptHasNotMadeStays)
{
    const fs::path results = scratch_ / "ckpt/results";
    fs::create_directories(results / "000100");
    std::ofstream(results / "000100/pressure.dat") << "three weeks";
    EXPECT_TRUE(store_.checkpoints("results").empty());
    EXPECT_TRUE(store_.collect_garbage(1).empty());
    EXPECT_EQ(store_.foreign_directories(), std::vector<std::string>{"results"});
    EXPECT_TRUE(contains(error_of([&] { store_.remove("results", 100); }), "is left alone"));
    EXPECT_TRUE(contains(error_of([&] { store_.begin_checkpoint("results", 1); }),
                         "holds files that are not of ckpt"));
    EXPECT_TRUE(contains(error_of([&] {
                             store_.write_job_state(job_of("results", ::getpid()));
                         }),
                         "holds files that are not of ckpt"));
    EXPECT_TRUE(fs::exists(results / "000100/pressure.dat"));
    EXPECT_FALSE(fs::exists(results / "job.json"));
}

TEST_F(StoreTest, LinksAreNotFollowed)
{
    const fs::path elsewhere = scratch_ / "elsewhere";
    fs::create_directories(elsewhere / "000007");
    std::ofstream(elsewhere / "000007/node-a.h5") << "data";
    std::ofstream(elsewhere / job_mark_name) << "mark";
    fs::create_symlink(elsewhere, scratch_ / "ckpt/link");
    EXPECT_TRUE(store_.collect_garbage(1).empty());

    commit("a", 2);
    fs::create_symlink(elsewhere / "000007", store_.directory_of("a", 1));
    EXPECT_TRUE(contains(error_of([&] { store_.remove("a", 1); }), "Not a directory"));
    EXPECT_TRUE(fs::exists(elsewhere / "000007/node-a.h5"));
}

/* A user's link with the number of a future checkpoint of the job. */
TEST_F(StoreTest, ALinkDoesNotHoldWhatIsOlder)
{
    fs::create_directories(scratch_ / "elsewhere");
    for (std::uint64_t number = 1; number <= 4; number++) {
        commit("a", number);
    }
    fs::create_symlink(scratch_ / "elsewhere", store_.directory_of("a", 3000));
    std::ofstream(scratch_ / "elsewhere/manifest.json") << "a user's";
    EXPECT_EQ(store_.foreign_directories(), std::vector<std::string>{"a/003000"});
    EXPECT_EQ(store_.collect_garbage(2).size(), 2u);
    store_.discard("a", 4000, {4});
    EXPECT_EQ(names_of("a"), (std::vector<std::string>{"a/4", "a/3000"}));
    EXPECT_TRUE(fs::exists(scratch_ / "elsewhere/manifest.json"));
}

TEST_F(StoreTest, OnlyFilesWithNamesOfOursGo)
{
    const fs::path directory = commit("a", 1);
    commit("a", 2);
    for (const char *name : {"whole-b.h5", "parity-b.bin", "trace.json", "rank-17.log",
                             "node-a.h5.tmp", "node-a.h5.4711.tmp", "parity-b.bin.room"}) {
        std::ofstream(directory / name) << "ours";
    }
    for (const char *name : {"notes", "node-.h5", "rank-x.log", "node-a.h5.bak", ".tmp"}) {
        std::ofstream(directory / name) << "a user's";
    }
    fs::create_symlink("notes", directory / "node-link.h5");
    fs::create_directory(directory / "node-directory.h5");
    const std::vector<std::string> stay = {".tmp", "node-.h5", "node-a.h5.bak",
                                           "node-directory.h5", "node-link.h5", "notes",
                                           "rank-x.log"};
    EXPECT_EQ(store_.remove("a", 1), stay);
    std::set<std::string> left;
    for (const auto &entry : fs::directory_iterator(directory)) {
        left.insert(entry.path().filename());
    }
    EXPECT_EQ(left, std::set<std::string>(stay.begin(), stay.end()));
    EXPECT_TRUE(store_.remove("a", 2).empty());
    EXPECT_FALSE(fs::exists(store_.directory_of("a", 2)));
    EXPECT_TRUE(store_.remove("a", 2).empty()); /* another process was first */
}

TEST_F(StoreTest, ACopyIsAJobsDirectory)
{
    commit("a", 1);
    fs::remove(store_.directory() / "a" / job_mark_name);
    EXPECT_TRUE(store_.collect_garbage(1).empty());
    store_.begin_checkpoint("a", 2);
    EXPECT_TRUE(is_job_directory(scratch_ / "ckpt/a"));
    /* The directory's name is not the job's. */
    fs::rename(scratch_ / "ckpt/a", scratch_ / "ckpt/b");
    fs::remove(store_.directory() / "b" / job_mark_name);
    EXPECT_NE(error_of([&] { store_.begin_checkpoint("b", 3); }), "");
}

TEST_F(StoreTest, AnEmptyDirectoryBecomesAJobs)
{
    fs::create_directory(scratch_ / "ckpt/a");
    EXPECT_FALSE(is_job_directory(scratch_ / "ckpt/a"));
    commit("a", 1);
    EXPECT_TRUE(is_job_directory(scratch_ / "ckpt/a"));
    remove_job_directory_if_empty(scratch_ / "ckpt/a");
    EXPECT_TRUE(is_job_directory(scratch_ / "ckpt/a"));
    store_.remove("a", 1);
    remove_job_directory_if_empty(scratch_ / "ckpt/a");
    EXPECT_FALSE(fs::exists(scratch_ / "ckpt/a"));
}

TEST_F(StoreTest, NodeFilesHaveSafeNames)
{
    EXPECT_EQ(node_file_name("n1"), "node-n1.h5");
    EXPECT_EQ(node_file_name("a/../b c"), "node-a_.._b_c.h5");
}
