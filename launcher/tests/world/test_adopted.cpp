/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_adopted.cpp - orphans of the ranks under ckpt-launch.
 */
#include "common/fd.hpp"
#include "launch/adopted.hpp"

#include "ckpt/copy.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ckpt;
using namespace ckpt::launch;

namespace
{

/* An orphan. It takes a name of 15 characters for each message, and answers. */
class Orphan
{
  public:
    explicit Orphan(const std::string &name)
    {
        int ends[2];
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        socket_ = Fd(ends[0]);
        const Fd theirs(ends[1]);
        const pid_t between = fork();
        if (between == 0) {
            socket_.reset();
            const pid_t orphan = fork();
            if (orphan == 0) {
                serve(theirs.get());
            }
            _exit(orphan > 0 ? 0 : 1);
        }
        int status = -1;
        EXPECT_EQ(waitpid(between, &status, 0), between);
        EXPECT_EQ(status, 0);
        rename(name);
    }

    void rename(std::string name)
    {
        name.resize(16);
        EXPECT_EQ(write(socket_.get(), name.data(), name.size()), 16);
        EXPECT_EQ(read(socket_.get(), &pid_, sizeof pid_), static_cast<ssize_t>(sizeof pid_));
    }

    pid_t pid() const { return pid_; }

    /* Waits for its end, without reaping it. */
    void await_end()
    {
        socket_.reset();
        siginfo_t info{};
        EXPECT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
    }

  private:
    [[noreturn]] static void serve(int socket)
    {
        char name[16];
        const pid_t own = getpid();

        while (read(socket, name, sizeof name) == 16) {
            (void)prctl(PR_SET_NAME, name, 0UL, 0UL, 0UL); /* the test sees it */
            (void)!write(socket, &own, sizeof own);        /* the test has ended */
        }
        _exit(0);
    }

    Fd socket_;
    pid_t pid_ = 0;
};

} // namespace

TEST(Adopted, ACopyBelongsToTheLaunchUntilItEnds)
{
    Adopted adopted;
    Orphan copy(CKPT_COPY_NAME);

    adopted.look();
    EXPECT_TRUE(adopted.has_any());
    EXPECT_FALSE(adopted.has_living());
    adopted.signal(SIGTERM); /* frozen: does not get it */
    copy.rename("program");
    adopted.look();
    EXPECT_TRUE(adopted.has_any());
    EXPECT_TRUE(adopted.has_living());
    adopted.signal(SIGTERM);
    copy.await_end();
    EXPECT_FALSE(adopted.has_living());
    adopted.reap(copy.pid());
    EXPECT_FALSE(adopted.has_any());
}

TEST(Adopted, AFrozenCopyEndsWhenAllEnd)
{
    Adopted adopted;
    Orphan copy(CKPT_COPY_NAME);

    adopted.look();
    adopted.end();
    copy.await_end();
    adopted.reap(copy.pid());
    EXPECT_FALSE(adopted.has_any());
}

TEST(Adopted, DaemonsAreOnlyReaped)
{
    Adopted adopted;
    Orphan daemon("daemon");

    adopted.look();
    EXPECT_FALSE(adopted.has_any());
    adopted.end();
    daemon.rename("daemon"); /* it lives */
    daemon.await_end();
    adopted.reap(daemon.pid());
    EXPECT_EQ(waitpid(daemon.pid(), nullptr, WNOHANG), -1);
}
