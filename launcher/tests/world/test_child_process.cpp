/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_child_process.cpp - children of ckpt-launch.
 */
#include "common/error.hpp"
#include "launch/child_process.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ckpt;
using namespace ckpt::launch;

namespace
{

constexpr int longest = 10000; /* ms */

ChildStart shell(const std::string &script)
{
    ChildStart start;
    start.program = {"sh", "-c", script};
    start.environment = {"PATH=/usr/bin:/bin", "GREETING=hello"};
    sigemptyset(&start.mask);
    return start;
}

int code_of(const ChildStart &start)
{
    const int status = ChildProcess(start).await_status(longest);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace

TEST(ChildProcess, HasItsEnvironmentAndDirectory)
{
    ChildStart start = shell("test \"$GREETING\" = hello && test \"$PWD\" = / && exit 7");
    start.directory = "/";
    EXPECT_EQ(code_of(start), 7);
}

TEST(ChildProcess, InheritsNoOtherDescriptor)
{
    const Fd open_one(open("/", O_RDONLY)); /* without O_CLOEXEC */
    ASSERT_TRUE(open_one);
    EXPECT_EQ(code_of(shell("test ! -e /proc/self/fd/" + std::to_string(open_one.get()))), 0);
}

TEST(ChildProcess, ReadsNothingOrTheGivenInput)
{
    EXPECT_EQ(code_of(shell("read line; test -z \"$line\"")), 0);

    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const Fd output(ends[0]);
    Fd input(ends[1]);
    ASSERT_EQ(write(input.get(), "word\n", 5), 5);
    ChildStart start = shell("read line; test \"$line\" = word");
    start.input = output.get();
    EXPECT_EQ(code_of(start), 0);
}

TEST(ChildProcess, HasTheGivenSignalMask)
{
    ChildStart start = shell("kill -USR1 $$; exit 3");
    sigaddset(&start.mask, SIGUSR1);
    EXPECT_EQ(code_of(start), 3);
    sigemptyset(&start.mask);
    EXPECT_EQ(code_of(start), -SIGUSR1);
}

TEST(ChildProcess, SignalsReachItsChildren)
{
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const Fd news(ends[0]);
    Fd end(ends[1]);
    ChildStart start = shell("trap 'wait; exit 5' TERM; (trap 'exit 0' TERM; echo >/proc/self/fd/" +
                             std::to_string(end.get()) +
                             "; while :; do sleep 1; done) & while :; do wait; done");
    start.endpoint = end.get();
    ChildProcess child(start);
    end.reset();
    char ready;
    ASSERT_EQ(read(news.get(), &ready, 1), 1);
    child.signal(SIGTERM);
    const int status = child.await_status(longest);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 5);
    EXPECT_EQ(kill(-child.pid(), 0), -1); /* its group is empty */
    EXPECT_EQ(errno, ESRCH);
}

TEST(ChildProcess, EndsAreSeenOnce)
{
    ChildProcess child(shell("exit 0"));
    pollfd end{child.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&end, 1, longest), 1);
    EXPECT_EQ(child.take_status(), 0);
}

TEST(ChildProcess, WaitsOnlyForAWhile)
{
    ChildProcess child(shell("trap '' TERM; while :; do sleep 1; done"));
    EXPECT_EQ(WTERMSIG(child.await_status(50)), SIGKILL);
}

TEST(ChildProcess, MissingProgramsAndDirectoriesAreErrors)
{
    ChildStart start = shell("exit 0");
    start.directory = "/nowhere";
    EXPECT_THROW(ChildProcess{start}, Error);
    start = shell("exit 0");
    start.program = {"/nowhere/program"};
    try {
        ChildProcess child(start);
        FAIL() << "it runs";
    } catch (const Error &problem) {
        EXPECT_EQ(problem.code(), ENOENT);
        EXPECT_STREQ(problem.what(), "cannot start /nowhere/program: No such file or directory");
    }
}
