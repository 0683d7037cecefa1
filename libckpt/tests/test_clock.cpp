/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_clock.cpp - conversion between the program's clock and the kernel's, and threads that are
 * stopped while they read a clock. tests/test_clocks.py tests the effects of a restart.
 */
extern "C" {
#include "memory/regions.h"
#include "sys/futex_clock.h"
#include "sys/thread_pointer.h"
#include "task/deadline.h"
#include "task/program_clock.h"
#include "task/threads.h"
#include "task/timers.h"
#include "task/write_set.h"
}

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <thread>
#include <ucontext.h>
#include <vector>

namespace
{

constexpr std::int64_t second = 1000000000;
constexpr int checkpoint_signal = 63;

std::int64_t added(std::int64_t time, std::int64_t nanoseconds)
{
    const timespec before{time / second, time % second};
    const timespec sum = ckpt_clock_add(&before, nanoseconds);

    EXPECT_GE(sum.tv_nsec, 0);
    EXPECT_LT(sum.tv_nsec, second);
    return sum.tv_sec * second + sum.tv_nsec;
}

TEST(Clock, TimesAreAdded)
{
    EXPECT_EQ(added(5 * second + 3, 0), 5 * second + 3);
    EXPECT_EQ(added(5 * second + 3, -4), 4 * second + 999999999);
    EXPECT_EQ(added(5 * second + 999999999, 1), 6 * second);
    EXPECT_EQ(added(5 * second, 100000 * second + 7), 100005 * second + 7);
    EXPECT_EQ(added(3001 * second + 1, -3000 * second), second + 1);
}

TEST(Clock, RandomTimesAreAddedAsNumbers)
{
    std::mt19937_64 random(27);
    std::uniform_int_distribution<std::int64_t> times(1, 1000000 * second);

    for (int i = 0; i < 10000; i++) {
        const std::int64_t time = times(random);
        const std::int64_t more = times(random) - times(random);

        EXPECT_EQ(added(time, more), time + more > 0 ? time + more : 1)
            << time << " " << more;
    }
}

TEST(Clock, ATimeBeforeTheKernelsZeroIsOverAndNotOff)
{
    EXPECT_EQ(added(5 * second, -5 * second), 1);
    EXPECT_EQ(added(5 * second, -3000 * second), 1);
}

TEST(Clock, WhatTheKernelRefusesOrNeverReachesStays)
{
    const timespec times[] = {
        {-1, 0}, {1, -1}, {1, second}, {LONG_MAX, 0}, {LONG_MAX, second - 1}};

    for (const timespec &time : times) {
        for (const std::int64_t more : {-3000 * second, 100000 * second}) {
            const timespec sum = ckpt_clock_add(&time, more);

            EXPECT_EQ(sum.tv_sec, time.tv_sec);
            EXPECT_EQ(sum.tv_nsec, time.tv_nsec);
        }
    }
}

TEST(Clock, NoOffsetBeforeARestart)
{
    for (clockid_t clock = -20; clock < 20; clock++) {
        EXPECT_EQ(ckpt_clock_offset(clock), 0) << clock;
    }
    EXPECT_EQ(ckpt_clock_restarts(), 0u);
}

/* A jump in a vDSO that the kernel itself has mapped would jump to itself. */
TEST(Clock, AProcessThatWasNotRestartedIsLeftAsItIs)
{
    ckpt_failure failure{};
    timespec time{};

    ckpt_regions_open();
    ckpt_clock_stop();
    EXPECT_EQ(ckpt_clock_start(ckpt_regions_vdso().start, &failure), -EINVAL);
    EXPECT_NE(std::string(failure.text).find("vDSO"), std::string::npos);
    EXPECT_EQ(ckpt_clock_offset(CLOCK_MONOTONIC), 0);
    EXPECT_EQ(ckpt_clock_restarts(), 0u);
    EXPECT_EQ(clock_gettime(CLOCK_MONOTONIC, &time), 0);
}

TEST(Clock, OfAFutexFollowsFromTheOperation)
{
    const int monotonic[] = {FUTEX_WAIT_BITSET, FUTEX_WAIT_BITSET_PRIVATE,
                             FUTEX_WAIT_REQUEUE_PI, CKPT_FUTEX_LOCK_PI2};
    const int others[] = {FUTEX_WAIT, FUTEX_WAIT | FUTEX_CLOCK_REALTIME,
                          FUTEX_LOCK_PI, FUTEX_WAKE, FUTEX_CMP_REQUEUE_PI};

    for (const int operation : monotonic) {
        EXPECT_EQ(ckpt_futex_clock(operation), CLOCK_MONOTONIC) << operation;
        EXPECT_EQ(ckpt_futex_clock(operation | FUTEX_CLOCK_REALTIME),
                  CLOCK_REALTIME)
            << operation;
    }
    for (const int operation : others) {
        EXPECT_EQ(ckpt_futex_clock(operation), CLOCK_REALTIME) << operation;
    }
}

TEST(Clock, TimersHaveTheClockThatWasNotedLast)
{
    EXPECT_EQ(ckpt_timers_clock(77), CLOCK_REALTIME);
    ckpt_timers_note_clock(77, CLOCK_MONOTONIC);
    EXPECT_EQ(ckpt_timers_clock(77), CLOCK_MONOTONIC);
    ckpt_timers_note_clock(77, CLOCK_BOOTTIME);
    EXPECT_EQ(ckpt_timers_clock(77), CLOCK_BOOTTIME);
    ckpt_timers_note_clock(77 + 4096, CLOCK_MONOTONIC); /* in the same place */
    EXPECT_EQ(ckpt_timers_clock(77), CLOCK_REALTIME);
}

TEST(Deadline, OnlyTimesOfClocksThatCountFromBootMove)
{
    const timespec time{5, 6};
    ckpt_deadline before;

    for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_TAI, clockid_t{99}}) {
        EXPECT_EQ(ckpt_deadline_begin(clock, &time, &before), &time);
        ckpt_deadline_end(&before);
    }
    EXPECT_EQ(ckpt_deadline_begin(CLOCK_MONOTONIC, nullptr, &before), nullptr);
    ckpt_deadline_end(&before);
}

/* A handler that waits, too, while the interrupted call still reads its own time. */
TEST(Deadline, OneInsideAnotherGivesItBack)
{
    const timespec outer{5, 6};
    const timespec inner{7, 8};
    ckpt_deadline before_outer;
    ckpt_deadline before_inner;
    const timespec *const seen =
        ckpt_deadline_begin(CLOCK_MONOTONIC, &outer, &before_outer);

    EXPECT_NE(seen, &outer);
    EXPECT_EQ(seen->tv_sec, 5);
    EXPECT_TRUE(ckpt_deadline_is_here(seen, ckpt_thread_pointer_get()));
    EXPECT_EQ(ckpt_deadline_begin(CLOCK_BOOTTIME, &inner, &before_inner)->tv_sec,
              7);
    ckpt_deadline_end(&before_inner);
    EXPECT_EQ(seen->tv_sec, 5);
    EXPECT_EQ(seen->tv_nsec, 6);
    ckpt_deadline_end(&before_outer);
}

void ignore(int)
{
}

/* Threads that only read a clock are often inside the read. */
class Reading : public testing::Test
{
  protected:
    static constexpr int freezes = 30;

    void SetUp() override
    {
        ckpt_thread_pointer_open();
        ckpt_regions_open();
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, ignore, nullptr), 0);
        for (auto &count : readings) {
            threads.emplace_back([this, &count] { read(count); });
        }
    }

    void TearDown() override
    {
        is_over = true;
        for (auto &thread : threads) {
            thread.join();
        }
        EXPECT_FALSE(went_back);
    }

    void read(std::atomic<std::uint64_t> &count)
    {
        timespec last{};

        while (!is_over) {
            timespec now{};

            clock_gettime(CLOCK_MONOTONIC, &now);
            if (now.tv_sec < last.tv_sec ||
                (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec)) {
                went_back = true;
            }
            last = now;
            count++;
        }
    }

    /* Without this a thread may be where the last freeze has found it: it has a new signal
     * before it has left the handler. */
    void let_all_read()
    {
        for (const auto &count : readings) {
            const std::uint64_t before = count;

            while (count == before) {
                std::this_thread::yield();
            }
        }
    }

    /* Stops the threads; returns how many of them are then inside. */
    int inside()
    {
        const ckpt_thread *parked;
        ckpt_failure failure{};
        int count = 0;

        let_all_read();
        if (ckpt_threads_freeze(60000, &failure) != 0) {
            ADD_FAILURE() << failure.text; /* no context holds any more */
            return 0;
        }
        const std::size_t all = ckpt_threads_list(&parked);
        EXPECT_EQ(all, readings.size());
        for (std::size_t i = 0; i < all; i++) {
            const auto *context =
                reinterpret_cast<const ucontext_t *>(parked[i].context);
            count += ckpt_clock_is_reading(static_cast<std::uint64_t>(
                context->uc_mcontext.gregs[REG_RIP]));
            EXPECT_EQ(context->uc_mcontext.gregs[REG_EFL] & 0x100, 0);
        }
        ckpt_threads_thaw();
        return count;
    }

    std::array<std::atomic<std::uint64_t>, 3> readings{};
    std::vector<std::thread> threads;
    std::atomic<bool> is_over{false};
    std::atomic<bool> went_back{false};
};

TEST_F(Reading, IsOverWhenAThreadStops)
{
    struct sigaction action {
    };

    for (int i = 0; i < freezes; i++) {
        EXPECT_EQ(inside(), 0);
    }
    ASSERT_EQ(sigaction(SIGTRAP, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL);
}

/* Go's runtime handles traps. */
TEST_F(Reading, IsOverWhereTheProgramHandlesTraps)
{
    struct sigaction action {
    };

    ASSERT_NE(std::signal(SIGTRAP, ignore), SIG_ERR);
    for (int i = 0; i < freezes; i++) {
        EXPECT_EQ(inside(), 0);
    }
    ASSERT_EQ(sigaction(SIGTRAP, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, ignore);
    std::signal(SIGTRAP, SIG_DFL);
}

/* The set of written memory uses single steps itself. */
TEST_F(Reading, IsNotSteppedWhileMemoryIsWatched)
{
    int count = 0;

    ASSERT_EQ(ckpt_write_set_begin(), 0);
    for (int i = 0; i < freezes; i++) {
        count += inside();
    }
    EXPECT_EQ(ckpt_write_set_end(), 0);
    EXPECT_GT(count, 0) << "the other tests show nothing";
}

} // namespace
