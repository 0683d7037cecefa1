/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_copy_budget.cpp - copies of messages take their share of the time, and no more.
 */
extern "C" {
#include "cut/collectives/copy_budget.h"
}

#include <gtest/gtest.h>

namespace
{

constexpr uint64_t START = 1'000'000;
constexpr uint64_t SECOND = 1'000'000;

class CopyBudget : public testing::Test
{
  protected:
    CopyBudget() { ckpt_copy_budget_fill(&budget, START); }

    ckpt_copy_budget budget{};
};

TEST_F(CopyBudget, AllIsThereAtFirst)
{
    EXPECT_EQ(ckpt_copy_budget_take(&budget, CKPT_COPY_SAVED_BYTES), 1);
    EXPECT_EQ(budget.left, 0U);
}

TEST_F(CopyBudget, TimeFillsItToItsLimit)
{
    budget.left = 0;
    ckpt_copy_budget_fill(&budget, START + 1000);
    EXPECT_EQ(budget.left, 1000U * CKPT_COPY_BYTES_PER_US);
    ckpt_copy_budget_fill(&budget, START + 3600 * SECOND);
    EXPECT_EQ(budget.left, CKPT_COPY_SAVED_BYTES);
    ckpt_copy_budget_fill(&budget, START + 3601 * SECOND);
    EXPECT_EQ(budget.left, CKPT_COPY_SAVED_BYTES);
}

TEST_F(CopyBudget, AClockThatGoesBackEarnsNothing)
{
    budget.left = 5;
    ckpt_copy_budget_fill(&budget, START / 2);
    EXPECT_EQ(budget.left, 5U);
    ckpt_copy_budget_fill(&budget, START / 2 + 1);
    EXPECT_EQ(budget.left, 5U + CKPT_COPY_BYTES_PER_US);
}

TEST_F(CopyBudget, WhatIsTooLargeForItTakesNothing)
{
    EXPECT_EQ(ckpt_copy_budget_take(&budget, CKPT_COPY_SAVED_BYTES + 1), 0);
    EXPECT_EQ(ckpt_copy_budget_take(&budget, SIZE_MAX), 0);
    EXPECT_EQ(budget.left, CKPT_COPY_SAVED_BYTES);
}

/* The machine's clock refills the budget during the test, but never by more than the elapsed
 * time. */
TEST_F(CopyBudget, ATightLoopGetsItsShareOnly)
{
    constexpr uint64_t PIECE = 4096;
    timespec began, ended;
    uint64_t copied = 0;

    ckpt_copy_budget_take(&budget, CKPT_COPY_SAVED_BYTES);
    clock_gettime(CLOCK_MONOTONIC, &began);
    budget.filled = began.tv_sec * SECOND + began.tv_nsec / 1000;
    for (int i = 0; i < 100'000; i++) {
        copied += ckpt_copy_budget_take(&budget, PIECE) ? PIECE : 0;
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    const uint64_t passed = (ended.tv_sec - began.tv_sec) * SECOND +
                            (ended.tv_nsec - began.tv_nsec) / 1000 + 1;
    EXPECT_LE(copied, passed * CKPT_COPY_BYTES_PER_US);
}

} // namespace
