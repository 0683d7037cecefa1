/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_chunk_pipeline.cpp - which rank's chunk a worker reads next, when it saves several ranks;
 * and the effect of one rank's error on the others.
 */
#include "config.h"
#include "image/write/chunk_pipeline.hpp"

#include "common/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace ckpt;

namespace
{

using Turn = ChunkPipeline::Turn;

constexpr std::size_t chunk_size = 4096;

/* The order in which chunks were read, with their sources. */
class Order
{
  public:
    void note(const std::string &what)
    {
        std::lock_guard lock(mutex_);
        names_.push_back(what);
    }
    const std::vector<std::string> &names() const { return names_; }

  private:
    std::mutex mutex_;
    std::vector<std::string> names_;
};

/* A source of `count` chunks; the read of the first chunk of `gate` waits until that opens. */
class Source : public ChunkSource
{
  public:
    Source(std::string name, Order &order, std::size_t count)
        : name_(std::move(name)), order_(order)
    {
        for (std::size_t i = 0; i < count; i++) {
            plan_.jobs.push_back(
                {i * chunk_size, i, 0, chunk_size, 0, 0, false, false});
        }
    }

    void read(const ChunkPlan &, const ChunkJob &job, std::span<std::byte> chunk) override
    {
        order_.note(name_ + std::to_string(job.index));
        if (job.index == 0 && gate_.valid()) {
            reading_.set_value();
            gate_.wait();
        }
        if (fails_) {
            fail("{} cannot be read", name_);
        }
        std::ranges::fill(chunk, std::byte{1});
    }
    std::optional<std::size_t> urgent() const override { return urgent_; }
    std::size_t following() const override { return following_; }

    const ChunkPlan &plan() const { return plan_; }
    void wait_at(const std::shared_future<void> &gate) { gate_ = gate; }
    void await_reading() { reading_.get_future().wait(); }
    void want(std::size_t job) { urgent_ = job; }
    void write_at(std::size_t job) { following_ = job; }
    void break_down() { fails_ = true; }

  private:
    const std::string name_;
    Order &order_;
    ChunkPlan plan_;
    std::promise<void> reading_;
    std::shared_future<void> gate_;
    std::optional<std::size_t> urgent_;
    std::size_t following_ = 0;
    bool fails_ = false;
};

/* One worker, which waits in the first chunk of a source until all sources have come. */
class OneWorker : public testing::Test
{
  protected:
    OneWorker()
    {
        first.wait_at(gate.get_future().share());
        begin(first);
        first.await_reading();
    }

    /* Runs the source on another thread; returns when it is under way. */
    void begin(Source &source, Turn turn = Turn::running)
    {
        const std::size_t before = pipeline.runs();
        results.push_back(std::async(std::launch::async, [&source, turn, this] {
            int stored = 0;
            pipeline.run(
                source, source.plan(), turn, [&](const StoredChunk &) { stored++; },
                [] {});
            return stored;
        }));
        while (pipeline.runs() == before) {
            std::this_thread::yield();
        }
    }

    /* Returns the stored chunks of the source that began as number `which`. Throws Error. */
    int result(std::size_t which) { return results[which].get(); }

    std::atomic<bool> cancelled = false;
    Order order;
    std::promise<void> gate;
    Source first{"a", order, 3}, second{"b", order, 3}, third{"c", order, 2};
    ChunkPipeline pipeline{{{Codec::Kind::none}, nullptr, 0, chunk_size, &cancelled}};
    std::vector<std::future<int>> results;
};

using Names = std::vector<std::string>;

} // namespace

TEST_F(OneWorker, ServesInTurn)
{
    begin(second);
    gate.set_value();
    EXPECT_EQ(result(0), 3);
    EXPECT_EQ(result(1), 3);
    EXPECT_EQ(order.names(), (Names{"a0", "a1", "a2", "b0", "b1", "b2"}));
}

/* A process waits for a page of that chunk, though it is another source's turn. */
TEST_F(OneWorker, ReadsFirstWhatIsWaitedFor)
{
    second.want(2);
    begin(second);
    gate.set_value();
    result(0);
    EXPECT_EQ(result(1), 3);
    EXPECT_EQ(order.names(), (Names{"a0", "b2", "a1", "a2", "b0", "b1"}));
}

/* Reads start at the chunk that the process writes, and wrap around at the end. */
TEST_F(OneWorker, FollowsWhoWrites)
{
    second.write_at(1);
    begin(second);
    gate.set_value();
    result(0);
    EXPECT_EQ(result(1), 3);
    EXPECT_EQ(order.names(), (Names{"a0", "a1", "a2", "b1", "b2", "b0"}));
}

TEST_F(OneWorker, ServesFirstWhoStandsStill)
{
    begin(second);
    begin(third, Turn::standing);
    gate.set_value();
    result(0);
    result(1);
    EXPECT_EQ(result(2), 2);
    EXPECT_EQ(order.names(), (Names{"a0", "c0", "c1", "a1", "a2", "b0", "b1", "b2"}));
}

TEST_F(OneWorker, GoesOnWithTheOthersAfterAnError)
{
    second.break_down();
    begin(second);
    begin(third);
    gate.set_value();
    EXPECT_EQ(result(0), 3);
    EXPECT_THROW(result(1), Error);
    EXPECT_EQ(result(2), 2);
    EXPECT_EQ(order.names(), (Names{"a0", "a1", "a2", "b0", "c0", "c1"}));
}

TEST_F(OneWorker, IsCancelled)
{
    begin(second);
    cancelled = true;
    gate.set_value();
    EXPECT_THROW(result(0), Error);
    EXPECT_THROW(result(1), Error);
    EXPECT_EQ(order.names(), (Names{"a0"}));
    EXPECT_EQ(pipeline.runs(), 0);
}
