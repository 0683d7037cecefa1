/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_invariant.cpp - what follows a violated invariant in a process.
 */
#include "agent/base/worker_thread.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "tests/common/worker_replies.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace ckpt
{

namespace
{

class Invariant : public testing::Test
{
  protected:
    void SetUp() override { forget_violations(); }
    void TearDown() override { forget_violations(); }

    static std::string text_of_violation(int number)
    {
        try {
            CKPT_INVARIANT(number == 0);
        } catch (const InvariantViolated &violation) {
            return violation.what();
        }
        return "";
    }
};

TEST_F(Invariant, ThatHoldsCostsOneEvaluationAndSaysNothing)
{
    int evaluated = 0;

    CKPT_EXPECT(++evaluated == 1);
    EXPECT_EQ(evaluated, 1);
    EXPECT_FALSE(is_unsound());
    EXPECT_EQ(first_violation(), "");
    EXPECT_NO_THROW(require_sound());
}

TEST_F(Invariant, IsNamedWithItsPlace)
{
    const std::string text = text_of_violation(1);

    EXPECT_TRUE(text.starts_with("internal error: tests/common/test_invariant.cpp:")) << text;
    EXPECT_NE(text.find("'number == 0' does not hold (please report this)"), std::string::npos)
        << text;
}

TEST_F(Invariant, IsNoErrorThatTheCodeExpects)
{
    EXPECT_THROW(
        {
            try {
                CKPT_EXPECT(false);
            } catch (const Error &) {
                ADD_FAILURE() << "taken for an error";
            }
        },
        InvariantViolated);
}

TEST_F(Invariant, LeavesTheProcessUnsoundThoughItWasCaught)
{
    const std::string first = text_of_violation(1);

    EXPECT_TRUE(is_unsound());
    EXPECT_THROW(CKPT_EXPECT(false), InvariantViolated);
    EXPECT_EQ(first_violation(), first);
    try {
        require_sound();
        ADD_FAILURE() << "an unsound process goes on";
    } catch (const Error &error) {
        EXPECT_EQ(error.what(), first);
    }
}

TEST_F(Invariant, OfManyThreadsIsRememberedOnce)
{
    std::vector<std::jthread> threads;
    std::atomic<int> caught = 0;

    for (int i = 0; i < 8; i++) {
        threads.emplace_back([&] { caught += !text_of_violation(1).empty(); });
    }
    threads.clear();
    EXPECT_EQ(caught, 8);
    EXPECT_TRUE(first_violation().starts_with("internal error: "));
}

TEST_F(Invariant, InATaskEndsTheTaskAndWakesTheLoop)
{
    WorkerThread worker;
    bool has_run = false;

    worker.run([] { CKPT_INVARIANT(1 > 2); });
    test::run_replies_until(worker, [] { return is_unsound(); });
    worker.run([&] { worker.reply([&] { has_run = true; }); });
    test::run_replies_until(worker, [&] { return has_run; });
    EXPECT_TRUE(has_run);
}

TEST_F(Invariant, InAReplyLeavesTheOthersInOrder)
{
    WorkerThread worker;
    std::string order;

    worker.reply([&] { order += 'a'; });
    worker.reply([&] {
        worker.reply([&] { order += 'd'; });
        CKPT_INVARIANT(order == "");
    });
    worker.reply([&] { order += 'b'; });
    worker.reply([&] { order += 'c'; });
    EXPECT_THROW(worker.run_replies(), InvariantViolated);
    EXPECT_EQ(order, "a");
    test::run_replies_until(worker, [&] { return order.size() == 4; });
    EXPECT_EQ(order, "abcd");
    EXPECT_TRUE(worker.idle());
}

} // namespace

} // namespace ckpt
