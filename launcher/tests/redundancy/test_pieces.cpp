/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pieces.cpp - a node's piece that is written rank by rank, on this node and through another
 * agent.
 */
#include "config.h"
#include "image/nodefile/node_file_reader.hpp"
#include "image/store/job_directory.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/logged_messages.hpp"
#include "tests/redundancy/piece_job.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace fs = std::filesystem;

namespace
{

class Pieces : public testing::TestWithParam<Where>
{
};

INSTANTIATE_TEST_SUITE_P(Node, Pieces,
                         testing::Values(Where::here, Where::elsewhere),
                         [](const auto &info) {
                             return info.param == Where::here ? "here"
                                                              : "elsewhere";
                         });

std::string saved_log(const NodeFileReader &reader, int rank)
{
    std::string log(reader.rank(rank).message_log.bytes, '\0');
    reader.read_message_log(rank, std::as_writable_bytes(std::span(log)));
    return log;
}

} // namespace

TEST_P(Pieces, AreWrittenRankByRank)
{
    Job job(GetParam());
    const Words names[] = {{"node-n1.h5.tmp"}, {"node-n1.h5"}};
    job.node().open_piece(job.checkpoint());
    job.await([&] { return fs::exists(job.checkpoint()) && job.files() == names[0]; });
    job.add(2);
    job.await("2");
    job.write_log(0, message_log(40)); /* a log may be written at any time */
    job.add(0);
    job.add(1);
    job.await("1");
    EXPECT_EQ(job.events.told, (Words{"2", "0", "1"}));
    job.write_log(2, "");
    EXPECT_EQ(job.files(),
              (Words{"node-n1.h5.tmp", "rank-0.log", "rank-2.log"}));
    job.node().close_piece({0, 1, 2});
    job.await("written");
    EXPECT_EQ(job.events.told, (Words{"2", "0", "1", "written"}));
    EXPECT_EQ(job.files(), names[1]);
    EXPECT_GT(job.events.last_memory, piece_ranks * mebibyte);
    EXPECT_FALSE(job.events.last_piece.shared);

    const Piece &piece = job.events.last_piece;
    EXPECT_EQ(piece.ranks, (std::vector<int>{0, 1, 2}));
    ReaderOptions options;
    options.checksum = piece.checksum;
    NodeFileReader reader(job.checkpoint() / piece.file, options);
    reader.verify();
    EXPECT_TRUE(saved_log(reader, 0) == message_log(40));
    EXPECT_EQ(saved_log(reader, 1), "");
    EXPECT_EQ(saved_log(reader, 2), "");
}

TEST_P(Pieces, TellHowMuchOfThemIsThere)
{
    Job job(GetParam());
    job.node().open_piece(job.checkpoint());
    job.add(2);
    job.await("2");
    job.await([&] { return job.node().saved(job.checkpoint()) > mebibyte; });
    const std::uint64_t first = job.node().saved(job.checkpoint());
    job.add(0);
    job.await("0");
    job.await([&] { return job.node().saved(job.checkpoint()) > first + mebibyte; });
    EXPECT_EQ(job.node().saved(job.checkpoint().parent_path()), 0u);
    job.add(1);
    job.await("1");
    job.node().close_piece({0, 1, 2});
    job.await("written");
    EXPECT_GT(job.node().saved(job.checkpoint()), piece_ranks * mebibyte);
    EXPECT_LE(job.node().saved(job.checkpoint()), job.events.last_memory);
}

TEST_P(Pieces, AreWrittenAtOnceInTheOrderThatIsAskedFor)
{
    Job job(GetParam());
    make_checkpoint_directory(job.checkpoint());
    job.node().capture(
        job.checkpoint(),
        {{1, job.snapshot(1)}, {2, job.snapshot(2)}, {0, job.snapshot(0)}});
    job.await("written");
    EXPECT_EQ(job.events.told, (Words{"1", "2", "0", "written"}));
    EXPECT_EQ(job.events.last_piece.ranks, (std::vector<int>{0, 1, 2}));
}

TEST_P(Pieces, AreWrittenToAFileSystem)
{
    Job job(GetParam());
    FileSystem expected = file_system_of(job.scratch.path());
    EXPECT_NE(expected.source, "");
    EXPECT_EQ(job.node().file_system(), expected);
}

TEST(Piece, ItsDirectoryIsPrivate)
{
    Job job(Where::here);
    job.node().open_piece(job.checkpoint());
    job.await([&] { return fs::is_directory(job.checkpoint()); });
    EXPECT_EQ(fs::status(job.checkpoint()).permissions(), fs::perms::owner_all);
}

TEST(Piece, TheWorkerIsFreeWhileOneWaitsForRanks)
{
    Job job(Where::here);
    job.node().open_piece(job.checkpoint());
    job.add(0);
    job.await("0");
    job.await([&] { return job.worker().idle(); });
    bool done = false;
    job.worker().run([&] { job.worker().reply([&] { done = true; }); });
    job.await([&] { return done; });
    EXPECT_EQ(job.files(), Words{"node-n1.h5.tmp"});
}

TEST_P(Pieces, OneThatCannotBeOpenedFails)
{
    Job job(GetParam());
    std::ofstream(job.scratch / "ckpt") << "a file";
    job.node().open_piece(job.checkpoint());
    EXPECT_EQ(job.events.told, Words{}); /* not before it returns */
    job.add(0);
    job.node().close_piece({0});
    job.await("failed");
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"failed", "undone"}));
    EXPECT_NE(job.events.last_reason.find(job.scratch / "ckpt"),
              std::string::npos)
        << job.events.last_reason;
}

TEST_P(Pieces, RanksThatShareMemoryAreRefused)
{
    Job job(GetParam(), [](Description &own, int rank) {
        if (rank > 0) {
            ckpt_file file{};
            file.kind = CKPT_FILE_MEMFD;
            file.inode = 77;
            file.same_as = -1;
            file.path = own.add_string("/memfd:ours");
            own.files = {file};
        }
    });
    job.node().open_piece(job.checkpoint());
    for (int rank = 0; rank < piece_ranks; rank++) {
        job.add(rank);
    }
    job.node().close_piece({0, 1, 2});
    job.await("failed");
    EXPECT_NE(job.events.last_reason.find(
                  "rank 2 shares memory with another rank of this node"),
              std::string::npos)
        << job.events.last_reason;
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"0", "1", "failed", "undone"}));
    EXPECT_EQ(job.files(), Words{});
}

TEST_P(Pieces, ADeadRankIsTold)
{
    for (bool is_noticed : {true, false}) {
        Job job(GetParam());
        job.node().open_piece(job.checkpoint());
        job.rank(1).kill();
        if (is_noticed) {
            job.await([&] { return !job.events.here.contains(1); });
        }
        job.add(1);
        job.await("failed");
        job.settle();
        EXPECT_EQ(job.events.told, (Words{"failed", "undone"}));
        EXPECT_EQ(job.files(), Words{});
    }
}

TEST_P(Pieces, ADamagedLogIsRefused)
{
    Job job(GetParam());
    job.node().open_piece(job.checkpoint());
    job.add(1);
    job.await("1");
    job.write_log(1, message_log(5) + "x");
    job.node().close_piece({1});
    job.await("failed");
    EXPECT_NE(job.events.last_reason.find(job.log(1)), std::string::npos)
        << job.events.last_reason;
    EXPECT_EQ(job.files(), Words{"rank-1.log"}); /* perhaps still in use */
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"1", "failed", "undone"}));
    EXPECT_EQ(job.files(), Words{});
}

TEST_P(Pieces, AFullDiskIsTold)
{
    Job job(GetParam());
    job.node().open_piece(job.checkpoint());
    job.add(0);
    job.await("0");
    job.await([&] { return job.worker().idle(); });
    job.write_log(0, message_log(100));
    const char *count = GetParam() == Where::here ? "1" : "01"; /* again */
    ::setenv("CKPT_FAULT", fmt::format("image-write-enospc:{}", count).c_str(),
             1);
    job.node().close_piece({0});
    job.await("failed");
    ::unsetenv("CKPT_FAULT");
    EXPECT_NE(job.events.last_reason.find("no space left in "),
              std::string::npos)
        << job.events.last_reason;
    job.settle();
    EXPECT_EQ(job.files(), Words{});
}

/* The steps of a piece. It is undone after any number of them, complete or not. */
TEST_P(Pieces, AreUndoneAtAnyMoment)
{
    Job job(GetParam());
    const std::function<void()> steps[] = {
        [&] { job.node().open_piece(job.checkpoint()); },
        [&] { job.add(1); },
        [&] { job.write_log(1, message_log(60)); },
        [&] { job.add(0); },
        [&] { job.write_log(0, message_log(3)); },
        [&] {
            job.node().close_piece({0, 1});
        },
    };
    for (std::size_t count = 1; count < std::size(steps); count++) {
        for (bool in_time : {true, false}) {
            job.events.told.clear();
            for (std::size_t i = 0; i < count; i++) {
                steps[i]();
                /* Ranks write when they know the directory. */
                if (i == 0) {
                    job.await([&] { return fs::exists(job.checkpoint()); });
                }
            }
            if (!in_time) {
                for (const char *rank : {"1", "0"}) {
                    if (count > (*rank == '1' ? 1u : 3u)) {
                        job.await(rank);
                    }
                }
            }
            job.settle();
            EXPECT_EQ(job.events.told.back(), "undone");
            EXPECT_EQ(std::ranges::count(job.events.told, "failed"), 0);
            EXPECT_EQ(job.files(), Words{}) << count << in_time;
        }
    }
    job.events.told.clear();
    for (const auto &step : steps) {
        step();
    }
    job.await("written");
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"1", "0", "written", "undone"}));
    EXPECT_EQ(job.files(), Words{"node-n1.h5"}); /* for the coordinator */
}

TEST_P(Pieces, NothingIsToldOfOneThatAnotherReplaces)
{
    Job job(GetParam());
    const fs::path other = job.checkpoint().parent_path() / "000002";
    job.node().open_piece(job.checkpoint());
    job.await([&] { return fs::exists(job.checkpoint()); });
    job.write_log(2, message_log(1));
    job.add(0);
    job.node().open_piece(other);
    job.add(1);
    job.node().close_piece({1});
    job.await("written");
    EXPECT_EQ(job.events.told, (Words{"1", "written"}));
    EXPECT_EQ(job.files(), Words{});
    NodeFileReader(other / "node-n1.h5").verify();
}

TEST(Piece, AnAgentThatEndsLeavesNothing)
{
    ScratchDirectory scratch;
    const fs::path directory = scratch / "piece";
    {
        Job job(Where::here);
        job.node().open_piece(directory);
        job.add(0);
        job.await("0");
        std::ofstream(message_log_path(directory, 1)) << message_log(1);
    }
    EXPECT_TRUE(fs::is_empty(directory));
}

TEST(Piece, ALostCoordinatorIsAnUndo)
{
    Job job(Where::elsewhere);
    job.node().open_piece(job.checkpoint());
    job.add(0);
    job.await("0");
    job.write_log(1, message_log(1));
    job.lose_coordinator();
    job.await([&] { return !job.link()->connected(); });
    job.await([&] { return job.worker().idle(); });
    EXPECT_EQ(job.files(), Words{});
}

/* An agent dies at a named place; the next one writes the piece again. */
TEST(Piece, LeftoversOfADeadAgentAreReplaced)
{
    for (const char *fault : {"agent-during-cut:2", "agent-during-log:2"}) {
        ScratchDirectory scratch;
        const fs::path directory = scratch / "piece";
        auto write = [&](Job &job) {
            job.node().open_piece(directory);
            job.await([&] { return fs::is_directory(directory); });
            for (int rank : {0, 1}) {
                std::ofstream(message_log_path(directory, rank))
                    << message_log(20);
            }
            job.add(0);
            job.add(1);
            job.node().close_piece({0, 1});
            job.await("written");
        };
        int status = run_in_child([&] {
            ::setenv("CKPT_FAULT", fault, 1);
            Job job(Where::here);
            write(job);
        });
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        EXPECT_EQ(names_in(directory).front(), "node-n1.h5.tmp");
        EXPECT_TRUE(fs::exists(message_log_path(directory, 1)));

        Job job(Where::here);
        write(job);
        NodeFileReader reader(directory / "node-n1.h5");
        reader.verify();
        EXPECT_EQ(reader.rank(1).message_log.messages, 20u);
    }
}
