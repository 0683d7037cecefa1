/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_signal_watch.cpp - ranks that do not answer: threads of this process that block the
 * checkpoint signal, or have their own handler.
 */
#include "agent/ranks/signal_watch.hpp"
#include "protocol/rank_message.hpp"

#include "tests/common/descriptor_message.hpp"
#include "tests/common/rank_page_file.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>

using namespace ckpt;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace
{

constexpr int checkpoint_signal = 63;

ckpt_message hello_of(pid_t tid)
{
    ckpt_message message = make_message(CKPT_MSG_HELLO, 0);
    ckpt_msg_hello &hello = message.as.hello;

    hello.rank_count = 1;
    hello.pid = static_cast<std::uint64_t>(getpid());
    hello.thread = static_cast<std::uint64_t>(tid);
    hello.signal = checkpoint_signal;
    return message;
}

SignalOfThread signal_of_thread(pid_t thread)
{
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
    const std::string status{std::istreambuf_iterator<char>(file), {}};

    return read_signal_of_thread(status, checkpoint_signal);
}

/* A rank that is a thread of this process. */
class Rank
{
  public:
    explicit Rank(bool blocks)
        : thread_([this, blocks] {
              sigset_t all;
              sigfillset(&all);
              if (blocks) {
                  pthread_sigmask(SIG_BLOCK, &all, nullptr);
              }
              tid_ = gettid();
              while (!end_) {
                  std::this_thread::sleep_for(1ms);
              }
              sigset_t ours;
              sigemptyset(&ours);
              sigaddset(&ours, checkpoint_signal);
              const timespec at_once{};
              while (sigtimedwait(&ours, nullptr, &at_once) > 0) {
              }
          })
    {
        int ends[2];
        while (tid_ == 0) {
            std::this_thread::yield();
        }
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        end_of_rank_ = Fd(ends[0]);
        session_.emplace(Fd(ends[1]));
        Fd file = test::make_rank_page(0, 1, page_);
        const ckpt_message hello = hello_of(tid_);
        EXPECT_TRUE(test::send_with_descriptor(ends[0], hello, file.get()));
        ckpt_message message;
        EXPECT_EQ(session_->receive(message), RankSession::Received::message);
        session_->hello(message);
    }
    ~Rank()
    {
        end_ = true;
        thread_.join();
        munmap(page_, CKPT_RANK_PAGE_SIZE(1));
    }

    RankSession &session() { return *session_; }
    ckpt_signal_state &state() { return page_->signal; }

  private:
    std::atomic<pid_t> tid_{0};
    std::atomic<bool> end_{false};
    std::thread thread_;
    ckpt_rank_page *page_ = nullptr;
    Fd end_of_rank_;
    std::optional<RankSession> session_;
};

/* An agent that asks one rank at a time. */
class SignalWatches : public testing::Test
{
  protected:
    /* Returns the report on the rank within this time; empty if there is none. */
    std::string ask(Rank &rank, std::chrono::milliseconds timeout)
    {
        const auto end = steady_clock::now() + timeout;

        why.clear();
        watch.ask(rank.session(), ++epoch);
        rank.session().signal();
        while (why.empty() && steady_clock::now() < end) {
            loop.turn(end);
        }
        watch.forget(0);
        return why;
    }

    EventLoop loop;
    std::string why;
    std::uint64_t epoch = 0;
    SignalWatch watch{loop, [this](int rank, std::uint64_t of, const std::string &reason) {
                          EXPECT_EQ(rank, 0);
                          EXPECT_EQ(of, epoch);
                          why = reason;
                      }};
};

TEST_F(SignalWatches, AThreadThatBlocksTheSignalIsNamedWithinASecond)
{
    Rank rank(true);
    const auto begin = steady_clock::now();

    EXPECT_EQ(ask(rank, 10s), "thread " + std::to_string(rank.session().thread()) +
                                  " blocks signal 63, by which it is asked for a checkpoint");
    EXPECT_GE(steady_clock::now() - begin, 500ms); /* it could still have unblocked it */
}

TEST_F(SignalWatches, TheSecondTimeItIsNamedAtOnce)
{
    Rank rank(true);

    EXPECT_NE(ask(rank, 10s), "");
    const auto begin = steady_clock::now();
    EXPECT_NE(ask(rank, 10s), "");
    EXPECT_LT(steady_clock::now() - begin, 500ms);

    /* The rank has answered after all: the next request is new. */
    watch.heard(0);
    const auto again = steady_clock::now();
    EXPECT_NE(ask(rank, 10s), "");
    EXPECT_GE(steady_clock::now() - again, 500ms);
}

TEST_F(SignalWatches, CodeOfOursMayBlockTheSignal)
{
    Rank rank(true);

    rank.state().busy = 1;
    EXPECT_EQ(ask(rank, 1500ms), "");
    rank.state().busy = 0;
    EXPECT_NE(ask(rank, 10s), "");
}

TEST_F(SignalWatches, ARankThatHasTakenTheSignalMayTakeItsTime)
{
    Rank rank(true);

    watch.ask(rank.session(), ++epoch);
    rank.state().taken++;
    rank.session().signal(); /* a later signal may still be pending */
    const auto end = steady_clock::now() + 1500ms;
    while (steady_clock::now() < end) {
        loop.turn(end);
    }
    EXPECT_EQ(why, "");
}

TEST_F(SignalWatches, WhoHasTakenTheSignalAndNotReadTheRequestIsSignalledAgain)
{
    Rank rank(true);
    const auto waits = [&rank] {
        return signal_of_thread(rank.session().thread()).is_waiting;
    };

    watch.ask(rank.session(), ++epoch);
    EXPECT_TRUE(rank.session().send(CKPT_MSG_REQUEST, epoch));
    rank.state().taken++; /* and no signal is pending */
    ASSERT_FALSE(waits());
    const auto end = steady_clock::now() + 10s;
    while (!waits() && steady_clock::now() < end) {
        loop.turn(end);
    }
    EXPECT_TRUE(waits());
    EXPECT_EQ(why, "");
}

void handle(int)
{
}

TEST_F(SignalWatches, AHandlerOfTheProgramIsNamed)
{
    struct sigaction action = {}, before;
    action.sa_handler = handle;
    ASSERT_EQ(sigaction(checkpoint_signal, &action, &before), 0);
    {
        Rank rank(false);
        EXPECT_NE(ask(rank, 10s).find("is taken by a handler of the program"),
                  std::string::npos)
            << why;
    }
    sigaction(checkpoint_signal, &before, nullptr);
}

TEST_F(SignalWatches, NothingIsToldOfACheckpointThatIsOver)
{
    Rank rank(true);

    EXPECT_EQ(ask(rank, 100ms), "");
    const auto end = steady_clock::now() + 1500ms;
    while (steady_clock::now() < end) {
        loop.turn(end);
    }
    EXPECT_EQ(why, "");
}

TEST(SignalOfThread, IsReadFromTheLinesOfTheKernel)
{
    const std::string status = "Name:\tSigBlk: x\nState:\tS (sleeping)\nGroups:\t1 2 3 \n"
                               "SigQ:\t1/7\nSigPnd:\t4000000000000000\n"
                               "ShdPnd:\t0000000000000001\nSigBlk:\tc000000000000000\n"
                               "SigIgn:\t0000000000000000\n";

    EXPECT_TRUE(read_signal_of_thread(status, 63).is_waiting);
    EXPECT_TRUE(read_signal_of_thread(status, 63).is_blocked);
    EXPECT_FALSE(read_signal_of_thread(status, 64).is_waiting);
    EXPECT_TRUE(read_signal_of_thread(status, 64).is_blocked);
    EXPECT_FALSE(read_signal_of_thread(status, 1).is_waiting); /* it is pending for the process */
    EXPECT_FALSE(read_signal_of_thread("", 63).is_blocked);
}

} // namespace
