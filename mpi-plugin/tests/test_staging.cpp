/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_staging.cpp - the writes of a rank to the memory of others: staged, delivered, trimmed when
 * no rank can need them, and given up without room. Mutants show that the bound for trimming is
 * exact: with a mutant, a replay goes wrong or the log is longer than necessary.
 */
extern "C" {
#include "independent/log/applied.h"
#include "tests/one_origin.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace
{

constexpr int other = 1; /* the origin is 0 */

std::vector<const ckpt_log_record *> records()
{
    ckpt_volatile_log *log = origin_log();
    std::vector<const ckpt_log_record *> all;
    std::uint64_t position = log->writes.head;

    while (ckpt_log_record *record = ckpt_log_find(log, &log->writes, &position)) {
        all.push_back(record);
        position = ckpt_log_behind(record, position);
    }
    return all;
}

std::vector<std::uint64_t> intervals()
{
    std::vector<std::uint64_t> numbers;
    for (const ckpt_log_record *record : records()) {
        numbers.push_back(record->interval);
    }
    return numbers;
}

std::uint64_t in_use(const ckpt_log_ring &ring)
{
    return ring.tail - ring.head;
}

class Staging : public testing::Test
{
  protected:
    static constexpr std::uint64_t capacity = 4096;
    static constexpr std::uint64_t record = /* of 200 bytes */
        sizeof(ckpt_log_record) + 2 * sizeof(ckpt_log_range) + 200;

    Staging() { origin_open(capacity, 0); }
    ~Staging() override { origin_close(); }

    static bool put(int target, std::uint64_t start, const std::string &bytes)
    {
        return origin_put(target, start, 100, bytes.data(), bytes.size()) == 0;
    }

    static bool put_and_deliver(int target, std::size_t bytes = 200)
    {
        const bool done = put(target, 0, std::string(bytes, 'x'));
        origin_deliver();
        return done;
    }

    /* Delivers to `other` until `bytes` bytes of the log are in use. */
    static bool log_more_than(std::uint64_t bytes)
    {
        bool done = true;
        while (done && in_use(origin_log()->writes) <= bytes) {
            done = put_and_deliver(other);
        }
        return done;
    }

    static std::string memory(int rank, std::size_t start, std::size_t bytes)
    {
        return {origin_memory(rank) + start, bytes};
    }
};

} // namespace

TEST_F(Staging, NothingIsDoneBeforeTheDelivery)
{
    ASSERT_TRUE(put(other, 8, "abcdef"));
    ASSERT_TRUE(put(0, 16, "gh"));
    EXPECT_EQ(memory(other, 8, 3), std::string(3, '\0'));
    EXPECT_EQ(origin_staged(), 2u);
    EXPECT_EQ(origin_staged_for(other), 1u);
    EXPECT_EQ(intervals(), (std::vector<std::uint64_t>{0, 0}));
    origin_deliver();
    EXPECT_EQ(memory(other, 8, 3), "abc");
    EXPECT_EQ(memory(other, 108, 3), "def");
    EXPECT_EQ(memory(0, 16, 1) + memory(0, 116, 1), "gh");
    EXPECT_EQ(intervals(), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(origin_staged(), 0u);
}

TEST_F(Staging, RangesAreInThePieceOfTheTarget)
{
    ASSERT_TRUE(put(other, 8, "abcd"));
    EXPECT_EQ(records().at(0)->target, other);
    EXPECT_EQ(ckpt_log_ranges(const_cast<ckpt_log_record *>(records()[0]))[0].start, 8u);
    origin_close();
    origin_open(capacity, 1);
    ASSERT_TRUE(put(other, 8, "abcd"));
    EXPECT_EQ(records().at(0)->target, 0) << "all of a shared window is one";
    EXPECT_EQ(ckpt_log_ranges(const_cast<ckpt_log_record *>(records()[0]))[0].start,
              8u + ORIGIN_BYTES);
    EXPECT_EQ(origin_staged_for(other), 1u);
    origin_deliver();
    EXPECT_EQ(memory(other, 8, 2), "ab");
}

TEST_F(Staging, AsManyAsTheLogHasRoomForCanWait)
{
    constexpr unsigned many = 200;

    origin_close();
    origin_open(1 << 16, 0);
    for (unsigned i = 0; i < many; i++) {
        ASSERT_TRUE(put(other, 2 * i, {static_cast<char>(i), static_cast<char>(i + 1)}));
    }
    EXPECT_EQ(origin_staged(), many);
    origin_deliver();
    for (unsigned i = 0; i < many; i++) { /* later records stay */
        EXPECT_EQ(origin_memory(other)[2 * i], static_cast<char>(i)) << i;
    }
}

TEST_F(Staging, WhatIsInACheckpointIsTrimmed)
{
    for (int i = 0; i < 4; i++) {
        ASSERT_TRUE(put_and_deliver(other));
    }
    origin_world.kept[other] = 2;
    origin_trim();
    EXPECT_EQ(intervals(), (std::vector<std::uint64_t>{3, 4}));
    origin_world.kept[other] = 4;
    origin_trim();
    EXPECT_EQ(in_use(origin_log()->writes), 0u);
}

TEST_F(Staging, ARankIsNotHelpedByTheCheckpointOfAnother)
{
    ASSERT_TRUE(put_and_deliver(other));
    ASSERT_TRUE(put_and_deliver(0));
    origin_world.kept[0] = 2;
    origin_trim();
    EXPECT_EQ(intervals(), (std::vector<std::uint64_t>{1, 2})) << "only from the front";
    origin_world.kept[other] = 1;
    origin_trim();
    EXPECT_TRUE(intervals().empty());
}

TEST_F(Staging, WhatWaitsIsNotTrimmed)
{
    ASSERT_TRUE(put(other, 0, "ab"));
    origin_world.kept[other] = UINT64_MAX;
    origin_trim();
    EXPECT_EQ(intervals(), std::vector<std::uint64_t>{0});
}

TEST_F(Staging, NobodyNeedsWhatWasDoneToAWindowThatIsGone)
{
    ASSERT_TRUE(put_and_deliver(other));
    origin_world.is_freed = 1;
    origin_trim();
    EXPECT_TRUE(intervals().empty());
}

TEST_F(Staging, AFullLogIsTrimmedFirst)
{
    while (in_use(origin_log()->writes) + record <= capacity) {
        ASSERT_TRUE(put_and_deliver(other));
    }
    origin_world.kept[other] = origin_world.interval - 1;
    ASSERT_TRUE(put_and_deliver(other));
    EXPECT_EQ(origin_world.lost, 0);
    EXPECT_EQ(origin_world.lost_since[other], 0u);
    EXPECT_EQ(intervals(), (std::vector<std::uint64_t>{origin_world.interval - 1,
                                                       origin_world.interval}));
}

TEST_F(Staging, AFullLogIsGivenUpAndThoseWhoNeedItAreTold)
{
    ASSERT_TRUE(put_and_deliver(other));
    ASSERT_TRUE(put_and_deliver(0));
    ASSERT_TRUE(put_and_deliver(other));
    origin_world.kept[0] = 2;
    while (in_use(origin_log()->writes) + record <= capacity) {
        ASSERT_TRUE(put(other, 500, std::string(200, 'y')));
    }
    const unsigned staged = origin_staged();
    ASSERT_GT(staged, 0u);
    ASSERT_TRUE(put(other, 1000, std::string(200, 'z')));
    EXPECT_EQ(origin_world.lost, 1);
    EXPECT_EQ(origin_world.lost_since[other], 1u);
    EXPECT_EQ(origin_world.lost_since[0], 0u) << "it has all that was done to it";
    EXPECT_EQ(origin_world.interval, 3 + staged) << "what was staged is delivered";
    EXPECT_EQ(memory(other, 500, 100), std::string(100, 'y'));
    EXPECT_EQ(intervals(), std::vector<std::uint64_t>{0});
    EXPECT_EQ(origin_staged(), 1u);
}

TEST_F(Staging, WhatNoLogHasRoomForIsRefused)
{
    EXPECT_FALSE(put(other, 0, std::string(capacity, 'x')));
    EXPECT_EQ(origin_staged(), 0u);
    ASSERT_TRUE(put_and_deliver(other));
}

/* ---- The limit of a log --------------------------------------------------------- */

TEST_F(Staging, BelowItsLimitNobodyIsAsked)
{
    while (in_use(origin_log()->writes) + record <= capacity / 2) {
        ASSERT_TRUE(put_and_deliver(other));
    }
    ckpt_log_limit_look();
    EXPECT_EQ(origin_world.asked_since[other], 0u);
}

TEST_F(Staging, AboveItTheLogIsTrimmedOrTheOldestRecordAskedFor)
{
    ASSERT_TRUE(log_more_than(capacity / 2));
    origin_world.kept[other] = 1;
    ASSERT_TRUE(log_more_than(capacity / 2 + 600));
    ckpt_log_limit_look();
    EXPECT_EQ(origin_world.asked_since[other], 2u);
    EXPECT_EQ(origin_world.asked_since[0], 0u);
    EXPECT_EQ(intervals().front(), 2u);

    origin_world.asked_since[other] = 0;
    origin_world.kept[other] = origin_world.interval;
    ckpt_log_limit_look();
    EXPECT_TRUE(intervals().empty());
    EXPECT_EQ(origin_world.asked_since[other], 0u);
}

TEST_F(Staging, NobodyIsAskedForWhatWaitsForThisRank)
{
    while (in_use(origin_log()->writes) <= capacity / 2) {
        ASSERT_TRUE(put(other, 0, std::string(200, 'x')));
    }
    ckpt_log_limit_look();
    EXPECT_EQ(origin_world.asked_since[other], 0u);
}

TEST_F(Staging, InAReplayTheLogStaysAsItIs)
{
    ASSERT_TRUE(log_more_than(capacity / 2));
    origin_world.kept[other] = 1;
    origin_set_replaying(1);
    ckpt_log_limit_look();
    EXPECT_EQ(intervals().front(), 1u);
    EXPECT_EQ(origin_world.asked_since[other], 0u);
    origin_set_replaying(0);
    ckpt_log_limit_look();
    EXPECT_EQ(intervals().front(), 2u);
}

TEST_F(Staging, TheLogOfEventsIsTheRanksOwn)
{
    ckpt_volatile_log *log = origin_log();

    while (in_use(log->events) <= capacity / 2) {
        ckpt_log_commit(log, &log->events, ckpt_log_reserve(log, &log->events, 200));
    }
    ckpt_log_limit_look();
    ckpt_log_limit_look();
    EXPECT_EQ(origin_world.page.wanted, 1u) << "asked once";
    origin_world.page.kept_wanted = 1;
    ckpt_log_limit_look();
    EXPECT_EQ(origin_world.page.wanted, 2u);
}

/* ---- The bound is exact ------------------------------------------------------------ */

namespace
{

/* The result of a random job whose target takes checkpoints and is then killed. */
struct Outcome {
    bool is_replayed;    /* the replayed memory is right */
    std::size_t records; /* left in the log */
    std::size_t needed;  /* records not in the checkpoint */
};

class RandomJob
{
  public:
    RandomJob(unsigned seed, std::int64_t bound_error)
        : random_(seed)
    {
        origin_open(1 << 16, 0);
        origin_world.bound_error = bound_error;
        checkpoint(); /* the first checkpoint is taken at once */
    }
    ~RandomJob() { origin_close(); }

    Outcome run()
    {
        for (unsigned steps = 20 + random_() % 60; steps > 0; steps--) {
            step();
        }
        origin_deliver();
        const auto left = records();
        const auto is_needed = [this](const ckpt_log_record *record) {
            return record->interval > seen_;
        };
        return {is_replayed(), left.size(),
                static_cast<std::size_t>(std::ranges::count_if(left, is_needed))};
    }

  private:
    void step()
    {
        char bytes[64];

        switch (random_() % 9) {
        case 0:
            checkpoint();
            break;
        case 8: /* as at any checkpoint of the origin */
            origin_trim();
            break;
        case 1:
            origin_synchronise();
            break;
        case 2:
        case 3:
            origin_deliver();
            break;
        default:
            for (char &byte : bytes) {
                byte = static_cast<char>(random_());
            }
            EXPECT_EQ(origin_put(other, random_() % 512, 64 + random_() % 64, bytes,
                                 2 + random_() % 62),
                      0);
        }
    }

    /* Saves the target's memory and its newest interval, reports it, and trims the log. */
    void checkpoint()
    {
        origin_deliver();
        saved_.assign(origin_memory(other), origin_memory(other) + ORIGIN_BYTES);
        seen_ = delivered();
        origin_world.kept[other] = seen_;
        origin_trim();
    }

    static std::uint64_t delivered()
    {
        const auto left = records();
        return left.empty() ? origin_world.kept[other] : left.back()->interval;
    }

    bool is_replayed()
    {
        std::vector<char> memory = saved_;
        for (const ckpt_log_record *record : records()) {
            if (record->interval > seen_) {
                ckpt_applied_add(const_cast<ckpt_log_record *>(record), memory.data());
            }
        }
        ckpt_applied_forget();
        return std::equal(memory.begin(), memory.end(), origin_memory(other));
    }

    std::mt19937 random_;
    std::vector<char> saved_;
    std::uint64_t seen_ = 0;
};

constexpr unsigned jobs = 300;

} // namespace

TEST(Bound, ByTheRightOneAllAreReplayedAndNothingElseIsKept)
{
    std::size_t needed = 0;
    for (unsigned seed = 0; seed < jobs; seed++) {
        const Outcome outcome = RandomJob(seed, 0).run();
        EXPECT_TRUE(outcome.is_replayed) << "seed " << seed;
        EXPECT_EQ(outcome.records, outcome.needed) << "seed " << seed;
        needed += outcome.needed;
    }
    EXPECT_GT(needed, jobs) << "the log is what they are replayed by";
}

TEST(Bound, ByOneMoreReplaysGoWrong)
{
    unsigned wrong = 0;
    for (unsigned seed = 0; seed < jobs; seed++) {
        RandomJob job(seed, 1);
        wrong += job.run().is_replayed ? 0 : 1;
    }
    EXPECT_GT(wrong, 0u);
    RecordProperty("wrong", static_cast<int>(wrong));
}

TEST(Bound, ByOneLessTheLogIsLongerThanItNeedBe)
{
    unsigned longer = 0;
    for (unsigned seed = 0; seed < jobs; seed++) {
        const Outcome outcome = RandomJob(seed, -1).run();
        EXPECT_TRUE(outcome.is_replayed) << "seed " << seed;
        longer += outcome.records > outcome.needed ? 1 : 0;
    }
    EXPECT_GT(longer, 0u);
}
