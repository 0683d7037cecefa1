/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_salvage.cpp - the real ckptd, when a rank dies that has taken an independent checkpoint.
 * Either the job is saved with the rank's copy in place of the rank, or it is not saved and the
 * others run on.
 */
#include "config.h"
#include "agent/ranks/shared_memory.hpp"
#include "common/pidfd.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/store/store.hpp"
#include "protocol/rank_message.hpp"
#include "tests/agent/fake_job.hpp"
#include "tests/agent/fake_rank.hpp"

#include "ckpt/independent.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

namespace ckpt
{

using test::FakeJob;
using test::FakeRankState;

namespace
{

constexpr int dead = 1;

struct Kept {
    std::uint64_t steps = 0;
    pid_t copy = 0;
};

class Salvaging : public testing::Test
{
  protected:
    Salvaging()
    {
        job.set("CKPT_PROTOCOL", "independent");
        job.set("FAKE_PAGE", scratch / "page");
    }

    Kept keep(int rank)
    {
        Kept kept;
        unsigned long steps = 0;
        job.rank(rank).write_line("keep");
        const std::string line = job.rank(rank).line("kept ");
        EXPECT_EQ(std::sscanf(line.c_str(), "kept %lu %d", &steps, &kept.copy), 2) << line;
        kept.steps = steps;
        job.rank(rank).line("obeyed keep");
        return kept;
    }

    void order(int rank, const std::string &what)
    {
        job.rank(rank).write_line(what);
        job.rank(rank).line("obeyed " + what);
    }

    /* Waits for an end that the parent need not have noticed yet. */
    static void await_end(pid_t process)
    {
        Fd descriptor = open_pidfd(process);
        pollfd ended = {descriptor.get(), POLLIN, 0};
        if (descriptor) { /* else it has ended */
            EXPECT_EQ(poll(&ended, 1, 30000), 1) << "process " << process << " stays";
        }
    }

    /* Waits until the rank has done steps that the copy has not. */
    void await_steps(int rank, std::uint64_t since)
    {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (job.ask("status").status.independent.at(rank).interval <= since) {
            ASSERT_LT(std::chrono::steady_clock::now(), until) << "rank " << rank << " stands";
            std::this_thread::yield();
        }
    }

    void await_asked(int rank)
    {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!job.ask("status").status.independent.at(rank).asked) {
            ASSERT_LT(std::chrono::steady_clock::now(), until) << "rank " << rank;
            std::this_thread::yield();
        }
    }

    /* Waits until all ranks have been saved because a rank did not take a requested checkpoint. */
    control::Status await_cap()
    {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        control::Status status = job.ask("status").status;
        while (status.capped.taken == 0 && std::chrono::steady_clock::now() < until) {
            std::this_thread::yield();
            status = job.ask("status").status;
        }
        return status;
    }

    void kill_rank(int rank)
    {
        ASSERT_EQ(::kill(job.rank(rank).pid(), SIGKILL), 0);
        EXPECT_TRUE(WIFSIGNALED(job.rank(rank).wait()));
    }

    bool is_killed(int rank)
    {
        const int status = job.rank(rank).wait();
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }

    /* Returns the reason why the rank is not replayed, when it is known. */
    std::string why_not()
    {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        std::string why;
        while (why.empty() && std::chrono::steady_clock::now() < until) {
            why = job.ask("status").status.salvaged.error;
            std::this_thread::yield();
        }
        return why;
    }

    void expect_nothing_saved()
    {
        for (const Checkpoint &checkpoint : Store(job.directory()).checkpoints("fake")) {
            EXPECT_NE(checkpoint.state, Checkpoint::State::committed) << checkpoint.name();
        }
    }

    /* The living ranks are told to go on, and do. */
    void expect_not_replayed(const std::string &why,
                             ckpt_refusal identity = CKPT_REFUSAL_NOT_REPLAYABLE)
    {
        EXPECT_EQ(why_not(), Refusal(identity, why).text());
        expect_nothing_saved();
        order(0, "begin");
        EXPECT_EQ(job.ask("checkpoint").refusal, "rank-died");
    }

    test::ScratchDirectory scratch;
    FakeJob job;
};

FakeRankState saved_state(const Checkpoint &checkpoint, int rank)
{
    const Piece &piece = checkpoint.manifest->piece_of(rank);
    NodeFileReader reader(checkpoint.directory / piece.file);
    const RankImage &image = reader.rank(rank);
    FakeRankState first{}, last{};

    for (std::size_t i = 0; i < image.regions.size(); i++) {
        const ckpt_region &region = image.regions[i];
        std::vector<std::byte> bytes(region.end - region.start);
        if (bytes.size() == test::mebibyte) {
            reader.read_region(rank, i, bytes);
            std::memcpy(&first, bytes.data(), sizeof first);
            std::memcpy(&last, &bytes.back() + 1 - sizeof last, sizeof last);
        }
    }
    EXPECT_EQ(first.steps, last.steps) << "rank " << rank << " has moved";
    return first;
}

} // namespace

class SalvagingWith : public Salvaging, public testing::WithParamInterface<const char *>
{
};

TEST_P(SalvagingWith, SavesTheOthersAndTheCopy)
{
    job.set("CKPT_SNAPSHOT", GetParam());
    job.start(3);
    Kept kept[3];
    /* The second copies replace the first ones. */
    for (int round = 0; round < 2; round++) {
        for (int rank = 0; rank < 3; rank++) {
            kept[rank] = keep(rank);
        }
    }
    EXPECT_EQ(job.ask("status").status.independent.at(dead).kept, 2u);
    for (int rank : {0, 2}) {
        await_steps(rank, kept[rank].steps);
    }
    kill_rank(dead);
    EXPECT_TRUE(is_killed(0));
    EXPECT_TRUE(is_killed(2));
    Store store(job.directory());
    job.end();
    const auto checkpoints = store.checkpoints("fake");
    ASSERT_EQ(checkpoints.size(), 1u);
    ASSERT_EQ(checkpoints[0].state, Checkpoint::State::committed) << checkpoints[0].reason;
    EXPECT_EQ(checkpoints[0].manifest->replayed, std::vector<int>{dead});
    EXPECT_EQ(saved_state(checkpoints[0], dead).steps, kept[dead].steps);
    for (int rank : {0, 2}) {
        EXPECT_EQ(saved_state(checkpoints[0], rank).rank, static_cast<std::uint64_t>(rank));
        EXPECT_GT(saved_state(checkpoints[0], rank).steps, kept[rank].steps);
    }
    EXPECT_EQ(store.job_state("fake")->state, "failed") << "it is a failure all the same";
}

INSTANTIATE_TEST_SUITE_P(EachSnapshot, SalvagingWith,
                         testing::Values("stop", "cow", "memory", "auto"),
                         [](const auto &info) { return std::string(info.param); });

TEST_F(Salvaging, TakesACheckpointOfAllAsOthersDo)
{
    job.start(2);
    keep(0);
    keep(1);
    const control::Reply reply = job.ask("checkpoint");
    EXPECT_EQ(reply.event, "result") << reply.error;
    EXPECT_TRUE(Store(job.directory()).checkpoints("fake").at(0).manifest->replayed.empty());
    kill_rank(dead);
    EXPECT_TRUE(is_killed(0));
    job.end();
    const auto checkpoints = Store(job.directory()).checkpoints("fake");
    ASSERT_EQ(checkpoints.size(), 2u);
    EXPECT_EQ(checkpoints[1].manifest->replayed, std::vector<int>{dead});
}

TEST_F(Salvaging, SavesAJobOfWhichNobodyIsLeft)
{
    job.start(1);
    const Kept kept = keep(0);
    kill_rank(0);
    job.end(); /* and its agent */
    const auto checkpoints = Store(job.directory()).checkpoints("fake");
    ASSERT_EQ(checkpoints.size(), 1u);
    ASSERT_EQ(checkpoints[0].state, Checkpoint::State::committed) << checkpoints[0].reason;
    EXPECT_EQ(saved_state(checkpoints[0], 0).steps, kept.steps);
}

TEST_F(Salvaging, HasAllOfTheCopyThoughOthersAreIncrements)
{
    job.set("CKPT_INCREMENTAL", "4");
    job.start(2);
    for (int number = 1; number <= 2; number++) {
        EXPECT_TRUE(job.saves());
    }
    keep(0);
    const Kept kept = keep(dead);
    kill_rank(dead);
    EXPECT_TRUE(is_killed(0));
    job.end();
    const auto checkpoints = Store(job.directory()).checkpoints("fake");
    ASSERT_EQ(checkpoints.back().number, 3u);
    ASSERT_EQ(checkpoints.back().state, Checkpoint::State::committed)
        << checkpoints.back().reason;
    EXPECT_EQ(saved_state(checkpoints.back(), dead).steps, kept.steps);
}

/* The agent has asked the rank for a checkpoint, because logs may be given up otherwise. */
TEST_F(Salvaging, AllAreSavedIfARankDoesNotSaveItself)
{
    job.start(2);
    keep(0);
    keep(dead);
    order(dead, "replay");
    order(dead, "want");
    await_asked(dead);
    EXPECT_EQ(job.ask("status").status.capped.taken, 0u);
    order(dead, "present");
    const control::Status status = await_cap();
    EXPECT_EQ(status.capped.taken, 1u);
    EXPECT_EQ(status.capped.number, 1u);
    EXPECT_EQ(status.capped.ranks, std::vector<int>{dead});
    EXPECT_EQ(status.committed, 1u);
    EXPECT_FALSE(status.independent.at(0).asked);
    EXPECT_EQ(status.independent.at(dead).copies, 1);
    keep(dead);
    EXPECT_FALSE(job.ask("status").status.independent.at(dead).asked);
    const auto checkpoints = Store(job.directory()).checkpoints("fake");
    ASSERT_EQ(checkpoints.size(), 1u);
    EXPECT_TRUE(checkpoints[0].manifest->replayed.empty());
}

TEST_F(Salvaging, NeedsACopy)
{
    job.start(3);
    keep(0);
    kill_rank(dead);
    expect_not_replayed("rank 1 has no independent checkpoint");
}

TEST_F(Salvaging, NeedsACopyThatLives)
{
    job.start(3);
    const Kept kept = keep(dead);
    ASSERT_EQ(::kill(kept.copy, SIGKILL), 0);
    await_end(kept.copy);
    kill_rank(dead);
    expect_not_replayed("the copy of rank 1 has ended");
}

TEST_F(Salvaging, NeedsACopySinceTheLastCallThatCannotBeReplayed)
{
    job.start(3);
    keep(dead);
    order(dead, "begin");
    order(dead, "end");
    kill_rank(dead);
    expect_not_replayed("rank 1 has communicated since its independent checkpoint in a way "
                        "that cannot be replayed");
}

TEST_F(Salvaging, NeedsWholeLogs)
{
    job.start(3);
    keep(dead);
    order(dead, "lose");
    kill_rank(dead);
    expect_not_replayed("a log lacks what rank 1 would need");
}

TEST_F(Salvaging, IsOffIfASurvivorRefuses)
{
    job.start(3, 0, 1, {"", "", "it has a child"});
    keep(dead);
    kill_rank(dead);
    EXPECT_EQ(job.rank(0).line("resumed "), "resumed rank 2: it has a child [unsavable-object]");
    expect_not_replayed("rank 2: it has a child", CKPT_REFUSAL_UNSAVABLE_OBJECT);
}

TEST_F(Salvaging, IsNotForAJobWithAnotherProtocol)
{
    job.set("CKPT_PROTOCOL", "auto");
    job.start(3);
    await_end(keep(dead).copy); /* it is released at once */
    kill_rank(dead);
    EXPECT_EQ(job.ask("checkpoint").refusal, "rank-died");
    EXPECT_EQ(job.ask("status").status.salvaged.error, "");
    expect_nothing_saved();
}

class SalvagingFault : public Salvaging, public testing::WithParamInterface<const char *>
{
};

/* The agent's ranks start another one, and run on. */
TEST_P(SalvagingFault, TheAgentDies)
{
    job.set("CKPT_FAULT", GetParam());
    job.set("CKPT_SNAPSHOT", "stop");
    job.start(3);
    keep(dead);
    kill_rank(dead);
    job.rank(0).line("agent lost");
    job.rank(2).line("agent lost");
    order(0, "begin");
    order(2, "begin");
    EXPECT_EQ(job.ask("checkpoint").event, "error");
    expect_nothing_saved();
}

INSTANTIATE_TEST_SUITE_P(Anywhere, SalvagingFault,
                         testing::Values("agent-at-salvage", "agent-in-align", "agent-in-stop",
                                         "agent-in-drain", "agent-at-proxy-save",
                                         "agent-in-write", "agent-during-capture",
                                         "agent-before-manifest"),
                         [](const auto &info) {
                             std::string name = info.param;
                             std::erase(name, '-');
                             return name;
                         });

/* ---- Objects that ranks share ----------------------------------------------------------- */

namespace
{

Fd memory_file(std::size_t size, const ckpt_independent_page *page = nullptr)
{
    Fd file(memfd_create("test-salvage", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
    if (page != nullptr) {
        EXPECT_EQ(pwrite(file.get(), page, sizeof *page, 0),
                  static_cast<ssize_t>(sizeof *page));
    }
    return file;
}

ckpt_independent_page page_of(std::uint32_t ranks)
{
    ckpt_independent_page page{};
    page.magic = CKPT_INDEPENDENT_MAGIC;
    page.version = CKPT_INDEPENDENT_VERSION;
    page.rank_count = ranks;
    return page;
}

ckpt_message shared(std::uint64_t kind)
{
    return make_message(CKPT_MSG_SHARED, 0, {.shared = {kind}});
}

} // namespace

TEST(SharedMemory, TakesNoPageButOfThisJob)
{
    SharedMemory memory;
    ckpt_independent_page page = page_of(3);
    const std::size_t size = CKPT_INDEPENDENT_SIZE(3u);

    EXPECT_NE(memory.obstacle(), "");
    EXPECT_THROW(memory.add(shared(CKPT_SHARED_PAGE), Fd(), 3), Error);
    EXPECT_THROW(memory.add(shared(CKPT_SHARED_PAGE), memory_file(size - 1, &page), 3), Error);
    EXPECT_THROW(memory.add(shared(CKPT_SHARED_PAGE), memory_file(size, &page), 2), Error);
    EXPECT_THROW(memory.add(shared(CKPT_SHARED_LOG + 1), memory_file(size, &page), 3), Error);
    page.magic++;
    EXPECT_THROW(memory.add(shared(CKPT_SHARED_PAGE), memory_file(size, &page), 3), Error);
    EXPECT_FALSE(memory.independent().has_value());
    page = page_of(3);
    memory.add(shared(CKPT_SHARED_PAGE), memory_file(size, &page), 3);
    EXPECT_EQ(memory.independent()->ranks.size(), 3u);
    EXPECT_EQ(memory.obstacle(), "");
}

TEST(SharedMemory, KeepsNoPageOfAFormerWorld)
{
    SharedMemory memory;
    const ckpt_independent_page page = page_of(3);

    for (int i = 0; i < 600; i++) { /* more than it may keep */
        memory.add(shared(CKPT_SHARED_PAGE), memory_file(CKPT_INDEPENDENT_SIZE(3u), &page), 3);
    }
    EXPECT_EQ("", memory.obstacle());
}

TEST(SharedMemory, SurvivesAPageThatIsDamagedLater)
{
    SharedMemory memory;
    const ckpt_independent_page page = page_of(3);
    Fd file = memory_file(CKPT_INDEPENDENT_SIZE(3u), &page);

    memory.add(shared(CKPT_SHARED_PAGE), Fd(dup(file.get())), 3);
    EXPECT_TRUE(memory.independent().has_value());
    ASSERT_EQ(ftruncate(file.get(), 64), 0);
    EXPECT_FALSE(memory.independent().has_value());
}

TEST(SharedMemory, KeepsAFileOnceAndNotTooMany)
{
    SharedMemory memory;
    const ckpt_independent_page page = page_of(1);
    Fd window = memory_file(4096);

    memory.add(shared(CKPT_SHARED_PAGE), memory_file(CKPT_INDEPENDENT_SIZE(1u), &page), 1);
    for (int i = 0; i < 600; i++) {
        memory.add(shared(CKPT_SHARED_WINDOW), Fd(dup(window.get())), 1);
    }
    EXPECT_EQ(memory.obstacle(), "");
    for (int i = 0; i < 600; i++) {
        memory.add(shared(CKPT_SHARED_LOG), memory_file(4096), 1);
    }
    EXPECT_EQ(memory.obstacle(), "the ranks share more than 512 memory files");
}

} // namespace ckpt
