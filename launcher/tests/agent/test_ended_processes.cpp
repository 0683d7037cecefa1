/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ended_processes.cpp - the end of killed processes is reported, as for ranks.
 */
#include "agent/base/ended_processes.hpp"

#include "common/error.hpp"
#include "common/event_loop.hpp"
#include "common/pidfd.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

using namespace ckpt;
using std::chrono::steady_clock;

namespace
{

/* Sleeps until it is killed. */
class Sleeper
{
  public:
    Sleeper()
        : pid_(::fork())
    {
        if (pid_ < 0) {
            fail_errno(errno, "cannot start a process");
        }
        if (pid_ == 0) {
            for (;;) {
                ::pause();
            }
        }
    }
    ~Sleeper()
    {
        kill();
        reap();
    }

    Fd descriptor() const { return open_pidfd(pid_); }
    void kill() const
    {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
        }
    }
    void reap()
    {
        if (pid_ > 0) {
            ::waitpid(std::exchange(pid_, 0), nullptr, 0);
        }
    }

  private:
    pid_t pid_;
};

class EndedProcessesTest : public testing::Test
{
  protected:
    template <typename Condition>
    bool turn_until(Condition condition, int seconds = 20)
    {
        const auto end = steady_clock::now() + std::chrono::seconds(seconds);
        while (!condition() && steady_clock::now() < end) {
            loop.turn(end);
        }
        return condition();
    }

    EventLoop loop;
    std::vector<int> ended;
    std::optional<int> status;
    EndedProcesses processes{loop,
                             {[this](int rank) { ended.push_back(rank); },
                              [this](int, int told) { status = told; }}};
};

TEST_F(EndedProcessesTest, TellsTheEndAndThenHow)
{
    Sleeper sleeper;
    processes.watch(3, sleeper.descriptor());
    sleeper.kill();
    ASSERT_TRUE(turn_until([&] { return !ended.empty(); }));
    EXPECT_EQ(ended, std::vector<int>{3});
    sleeper.reap();
    if (turn_until([&] { return processes.idle(); }) && status) { /* Linux 6.15 */
        EXPECT_TRUE(WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL);
    }
}

TEST_F(EndedProcessesTest, WhoIsForgottenIsNotToldOf)
{
    Sleeper first, second;
    processes.watch(1, first.descriptor());
    processes.watch(2, second.descriptor());
    processes.forget(1);
    first.kill();
    first.reap();
    second.kill();
    ASSERT_TRUE(turn_until([&] { return !ended.empty(); }));
    EXPECT_EQ(ended, std::vector<int>{2});
}

TEST_F(EndedProcessesTest, KillsThoseItWatches)
{
    Sleeper first, second;
    processes.watch(1, first.descriptor());
    processes.watch(2, second.descriptor());
    processes.kill();
    ASSERT_TRUE(turn_until([&] { return ended.size() == 2; }));
}

/* The test prints the duration and leaves the judgement to its reader. */
TEST_F(EndedProcessesTest, ManyDeaths)
{
    std::vector<double> milliseconds;
    for (int rank = 0; rank < 200; rank++) {
        Sleeper sleeper;
        processes.watch(rank, sleeper.descriptor());
        const auto begin = steady_clock::now();
        sleeper.kill();
        ASSERT_TRUE(turn_until([&] { return !ended.empty() && ended.back() == rank; }));
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count());
        processes.forget(rank);
    }
    std::ranges::sort(milliseconds);
    printf("from SIGKILL to the word of it: %.3f ms (%.3f .. %.3f), 99 %% within %.3f ms\n",
           milliseconds[100], milliseconds.front(), milliseconds.back(), milliseconds[198]);
}

} // namespace
