/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_kept_copies.cpp - when copies of the ranks are kept, and when they are not.
 */
#include "agent/base/pressure_watch.hpp"
#include "agent/ranks/kept_copies.hpp"
#include "image/memory/copy_memory.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

/* This process, as a rank that has a copy. */
std::vector<StoppedRank> copied()
{
    StoppedRank rank{0, {}};

    rank.process.pid = ::getpid();
    rank.process.copy = std::make_shared<FrozenCopy>(::getpid(), Fd());
    return {rank};
}

std::string group_in(const std::string &text)
{
    std::istringstream file(text);

    return unified_group(file);
}

} // namespace

TEST(CopyMemory, IsTheAnonymousMemoryOfTheProcesses)
{
    constexpr std::size_t size = 64 * mebibyte;
    const std::uint64_t before = memory_of_copies({::getpid()});
    void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    std::memset(memory, 1, size);
    const std::uint64_t after = memory_of_copies({::getpid()});
    EXPECT_GE(after, before + size - mebibyte); /* the kernel counts in batches */
    EXPECT_GE(memory_of_copies({::getpid(), ::getpid()}), 2 * (after - mebibyte));
    ASSERT_EQ(::munmap(memory, size), 0);
    EXPECT_EQ(memory_of_copies({-1}), 0u);
}

TEST(CopyMemory, HasToFitTwiceIntoThreeQuarters)
{
    EXPECT_TRUE(has_room_for_copies(0, false, 0));
    EXPECT_TRUE(has_room_for_copies(3000, false, 8000));
    EXPECT_FALSE(has_room_for_copies(3001, false, 8000));
    EXPECT_TRUE(has_room_for_copies(6000, true, 8000)); /* the others are in use already */
    EXPECT_FALSE(has_room_for_copies(6001, true, 8000));
}

TEST(KeptCopies, AreChosenIfThereIsRoom)
{
    KeptCopies copies(true, true);

    copies.choose(copied());
    EXPECT_TRUE(copies.are_chosen()) << copies.why_none();
    copies.propose(copied());
    copies.commit(1);
    EXPECT_EQ(copies.number(), 1u);
    EXPECT_TRUE(copies.is_complete(1));
    copies.drop("programs wait for memory");
    EXPECT_EQ(copies.number(), 0u);
    EXPECT_EQ(copies.why_none(), "programs wait for memory");
    EXPECT_FALSE(KeptCopies(false, true).are_chosen());
}

TEST(KeptCopies, AreNotKeptIfTheyWereNotChosen)
{
    KeptCopies copies(true, true);

    copies.decline("one by one");
    copies.propose(copied());
    copies.commit(1);
    EXPECT_EQ(copies.number(), 0u);
    EXPECT_EQ(copies.why_none(), "one by one");
}

TEST(KeptCopies, AreNotChosenAgainIfTheyWereOfNoUse)
{
    KeptCopies copies(true, true), wanted(true, false);

    for (KeptCopies *one : {&copies, &wanted}) {
        one->choose(copied());
        one->propose(copied());
        one->are_of_no_use("shared");
        one->commit(1);
        EXPECT_EQ(one->number(), 0u);
        one->choose(copied());
    }
    EXPECT_FALSE(copies.are_chosen());
    EXPECT_EQ(copies.why_none(), "shared");
    EXPECT_TRUE(wanted.are_chosen()); /* the user has asked for them */
}

TEST(KeptCopies, RankWithoutACopy)
{
    KeptCopies copies(true, true);
    auto ranks = copied();

    ranks.front().process.copy.reset();
    ranks.front().process.why_no_copy = "MADV_DONTFORK";
    copies.choose(ranks);
    copies.propose(ranks);
    copies.commit(1);
    EXPECT_EQ(copies.number(), 0u);
    EXPECT_EQ(copies.why_none(), "rank 0 was not copied: MADV_DONTFORK");
}

TEST(PressureWatch, FindsTheGroup)
{
    EXPECT_EQ(group_in("9:cpu:/x\n0::/slurm/job\n"), "slurm/job");
    EXPECT_EQ(group_in("0::/a"), "a");
    EXPECT_EQ(group_in("0::/\n"), "");
    EXPECT_EQ(group_in("10::/no\n4:memory:/x\n"), "");
}

/* There are more busy threads than processors. */
TEST(PressureWatch, TellsThatProgramsWait)
{
    EventLoop loop;
    std::atomic<bool> is_over = false;
    bool is_short = false;
    PressureWatch watch(loop, "cpu", [&] { is_short = true; });
    if (watch.watched() == 0) {
        GTEST_SKIP() << "the kernel does not tell";
    }
    std::vector<std::thread> busy;
    for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); i++) {
        busy.emplace_back([&] {
            while (!is_over) {
            }
        });
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_short && std::chrono::steady_clock::now() < limit) {
        loop.turn(limit);
    }
    is_over = true;
    for (std::thread &thread : busy) {
        thread.join();
    }
    EXPECT_TRUE(is_short);
}
