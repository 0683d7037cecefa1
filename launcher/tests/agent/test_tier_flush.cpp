/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_tier_flush.cpp - which checkpoint is copied when, and the handling of failures.
 */
#include "config.h"
#include "agent/coordinator/tier_flush.hpp"

#include "image/store/job_directory.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/worker_replies.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace ckpt;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

using Numbers = std::vector<std::uint64_t>;

/* Two hosts have a piece each of every checkpoint; the test decides when they copy. */
class TierFlushTest : public testing::Test
{
  protected:
    struct Order {
        TierCopy copy;
        Piece piece;
    };

    TierFlushTest()
    {
        flush.emplace(worker, scratch / "fast/job", slow, "job", 2,
                      TierFlush::Hooks{[this](const TierCopy &copy, const Piece &piece) {
                                           orders.push_back({copy, piece});
                                           return lost.contains(piece.host) ? ""
                                                                            : piece.host;
                                       },
                                       [this] { over++; }});
    }

    ~TierFlushTest() override { worker.stop(); }

    /* A checkpoint in the fast directory, on top of another one unless that is 0. */
    void commit(std::uint64_t number, std::uint64_t base = 0)
    {
        fs::path directory = fast.begin_checkpoint("job", number);
        Manifest manifest;
        manifest.job = "job";
        manifest.number = number;
        manifest.created = static_cast<std::int64_t>(number);
        manifest.rank_count = 2;
        for (int rank : {0, 1}) {
            const std::string host = rank == 0 ? "a" : "b";
            std::ofstream(directory / ("node-" + host + ".h5")) << "piece";
            Piece piece = {"node-" + host + ".h5", host, 5, 0, {rank}};
            piece.identity = 10 * number + static_cast<std::uint64_t>(rank);
            piece.base = base;
            piece.base_identity =
                base == 0 ? 0 : 10 * base + static_cast<std::uint64_t>(rank);
            manifest.pieces.push_back(piece);
        }
        manifest.write(directory);
    }

    template <typename Condition>
    void run_until(Condition condition)
    {
        run_replies_until(worker, condition);
    }

    void await_orders(std::size_t count)
    {
        run_until([&] { return orders.size() == count; });
    }

    void await_over(int count)
    {
        run_until([&] { return over == count; });
    }

    void copy(const Order &order, const std::string &error = "")
    {
        if (error.empty()) {
            make_checkpoint_directory(order.copy.to);
            fs::copy_file(order.copy.from / order.piece.file,
                          order.copy.to / order.piece.file);
        }
        flush->copied(order.piece.host, order.piece.file, error);
    }

    /* Carries out all requests until nothing is under way. */
    void copy_all()
    {
        std::size_t done = orders.size() - 2;
        while (flush->under_way() != 0) {
            run_until([&] { return flush->under_way() == 0 || orders.size() > done; });
            for (; done < orders.size(); done++) {
                copy(orders[done]);
            }
        }
    }

    Numbers in_slow() const
    {
        Numbers numbers;
        for (const Checkpoint &checkpoint : slow.checkpoints("job")) {
            if (checkpoint.state == Checkpoint::State::committed) {
                numbers.push_back(checkpoint.number);
            }
        }
        return numbers;
    }

    ScratchDirectory scratch;
    Store fast = Store::create(scratch / "fast"), slow = Store::create(scratch / "slow");
    std::vector<Order> orders;
    std::set<std::string> lost;
    int over = 0;
    WorkerThread worker;
    std::optional<TierFlush> flush;
};

} // namespace

TEST(Copier, SeesThePiece)
{
    const std::vector<std::string> all = {"a", "b", "c", "d"};

    EXPECT_EQ(copier_of("d", "b", all, {}), "d");
    EXPECT_EQ(copier_of("d", "b", all, {"d"}), "d") << "the writer has it";
    EXPECT_EQ(copier_of("gone", "b", all, {}), "b");
    EXPECT_EQ(copier_of("gone", "b", all, {"a"}), "b");
    EXPECT_EQ(copier_of("gone", "b", {"a", "c", "d"}, {"a"}), "c") << "the first has its own";
    EXPECT_EQ(copier_of("gone", "b", {"a"}, {"a"}), "");
    EXPECT_EQ(copier_of("gone", "b", all, {"gone"}), "") << "only the writer had it";
    EXPECT_EQ(copier_of("gone", "b", {}, {}), "");
}

TEST_F(TierFlushTest, ItIsThereWhenAllPiecesAre)
{
    commit(1);
    flush->committed(1);
    await_orders(2);
    EXPECT_EQ(flush->under_way(), 1u);
    copy(orders[1]);
    EXPECT_TRUE(in_slow().empty());
    copy(orders[0]);
    await_over(1);
    EXPECT_EQ(in_slow(), Numbers({1}));
    EXPECT_EQ(flush->flushed(), 1u);
    EXPECT_EQ(flush->under_way(), 0u);
    EXPECT_EQ(flush->error(), "");
}

TEST_F(TierFlushTest, TheNewestIsNext)
{
    commit(1);
    flush->committed(1);
    await_orders(2);
    for (std::uint64_t number : {2, 3, 4}) {
        commit(number);
        flush->committed(number);
    }
    EXPECT_EQ(flush->needed().newest, 4u);
    EXPECT_EQ(flush->needed().stay, std::set<std::uint64_t>({1, 4}));
    copy_all();
    EXPECT_EQ(in_slow(), Numbers({1, 4}));
    EXPECT_EQ(flush->needed().stay, std::set<std::uint64_t>({4}));
}

TEST_F(TierFlushTest, WhatItWasMadeOnTopOfComesFirst)
{
    commit(1);
    flush->committed(1);
    await_orders(2);
    commit(2, 1);
    commit(3, 2);
    flush->committed(3);
    copy_all();
    EXPECT_EQ(in_slow(), Numbers({1, 2, 3}));
    EXPECT_EQ(flush->needed().stay, std::set<std::uint64_t>({1, 2, 3}));
}

TEST_F(TierFlushTest, WhoWaitsIsTold)
{
    std::vector<std::string> told;
    auto then = [&](const std::string &error) { told.push_back(error); };
    commit(1);
    flush->want(1, then);
    await_orders(2);
    commit(2);
    flush->want(2, then);
    copy(orders[0]);
    copy(orders[1], "full");
    await_over(1);
    EXPECT_EQ(told, std::vector<std::string>({"b: full"}));
    await_orders(4);
    copy(orders[2]);
    copy(orders[3]);
    await_over(2);
    EXPECT_EQ(told, std::vector<std::string>({"b: full", ""}));
    flush->want(2, then);
    EXPECT_EQ(told.size(), 3u);
    EXPECT_EQ(flush->error(), "");
    EXPECT_EQ(in_slow(), Numbers({2}));
}

/* The partial copies are removed after both hosts have answered. */
TEST_F(TierFlushTest, AFailureLeavesNothing)
{
    commit(1);
    flush->committed(1);
    await_orders(2);
    copy(orders[0], "full");
    EXPECT_NE(flush->under_way(), 0u);
    copy(orders[1]);
    EXPECT_EQ(flush->error(), "a: full");
    run_until([&] { return flush->idle() || !fs::exists(slow.directory_of("job", 1)); });
    EXPECT_EQ(flush->flushed(), 0u);
}

TEST_F(TierFlushTest, ALostHostIsAFailure)
{
    commit(1);
    flush->committed(1);
    await_orders(2);
    copy(orders[0]);
    flush->host_gone("b");
    EXPECT_EQ(flush->error(), "the agent of b was lost");
    lost.insert("b");
    commit(2);
    flush->committed(2);
    await_orders(4);
    copy(orders[2]);
    EXPECT_EQ(flush->error(), "there is no agent for the piece of b");
    EXPECT_TRUE(in_slow().empty());
}

TEST_F(TierFlushTest, WhatHasNeverBeenGoesAgain)
{
    commit(1);
    flush->committed(1);
    await_orders(2);
    copy_all();
    commit(2);
    flush->want(2, {});
    await_orders(4);
    EXPECT_EQ(flush->needed().newest, 1u);
    EXPECT_EQ(flush->needed().stay, std::set<std::uint64_t>({1, 2}));
    flush->forget(2);
    copy_all();
    run_until([&] { return in_slow() == Numbers({1}); });
    EXPECT_EQ(flush->needed().stay, std::set<std::uint64_t>({1}));
}

/* A directory does not change while it is copied from. */
TEST_F(TierFlushTest, FoldedPiecesFollow)
{
    commit(1);
    flush->committed(1);
    await_orders(2);
    commit(2, 1);
    flush->committed(2);
    copy(orders[0]);
    copy(orders[1]);
    await_orders(4);
    Piece folded = Manifest::load(fast.directory_of("job", 2)).pieces[0];
    folded.file = "whole-a.h5";
    folded.base = folded.base_identity = 0;
    std::ofstream(fast.directory_of("job", 2) / folded.file) << "piece";
    flush->replace(2, folded);
    copy(orders[2]);
    EXPECT_TRUE(fs::exists(fast.directory_of("job", 2) / "node-a.h5"));
    copy(orders[3]);
    await_orders(5);
    EXPECT_FALSE(fs::exists(fast.directory_of("job", 2) / "node-a.h5"));
    EXPECT_EQ(orders[4].piece.file, "whole-a.h5");
    copy(orders[4]);
    await_over(3);
    EXPECT_EQ(flush->error(), "");
    EXPECT_EQ(in_slow(), Numbers({1, 2}));
    EXPECT_FALSE(fs::exists(slow.directory_of("job", 2) / "node-a.h5"));
}

TEST_F(TierFlushTest, AnotherOfTheSameNumberIsNotReplaced)
{
    commit(1);
    fs::path there = slow.begin_checkpoint("job", 1);
    Manifest manifest = Manifest::load(fast.directory_of("job", 1));
    manifest.created = 77;
    manifest.write(there);
    flush->committed(1);
    await_over(1);
    EXPECT_NE(flush->error().find("another checkpoint"), std::string::npos);
    EXPECT_EQ(Manifest::load(there).created, 77);
}
