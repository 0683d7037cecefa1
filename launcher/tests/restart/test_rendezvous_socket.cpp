/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rendezvous_socket.cpp - restart programs of a node find each other and pass descriptors.
 */
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "restart/rendezvous_socket.hpp"
#include "restart/siblings.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

using ckpt::Fd;
using ckpt::restart::RendezvousListener;
using ckpt::restart::RendezvousSocket;
using ckpt::restart::SiblingWatch;
using ckpt::test::error_of;
using ckpt::test::run_in_child;
using ckpt::test::ScratchDirectory;

namespace
{

TEST(NodeRendezvous, HasOneHost)
{
    ScratchDirectory scratch;
    {
        auto host = RendezvousListener::open(scratch.path(), "place");
        ASSERT_TRUE(host);
        EXPECT_FALSE(RendezvousListener::open(scratch.path(), "place"));
        EXPECT_TRUE(RendezvousListener::open(scratch.path(), "other place"));
        EXPECT_EQ(scratch.names(), std::vector<std::string>{"place"});
    }
    EXPECT_TRUE(scratch.names().empty());
}

TEST(NodeRendezvous, HandsDescriptorsOver)
{
    ScratchDirectory scratch;
    const std::filesystem::path deep = scratch / std::string(200, 'd');
    std::filesystem::create_directory(deep);
    auto host = RendezvousListener::open(deep, "place");
    RendezvousSocket client = RendezvousSocket::connect(deep, "place");
    RendezvousSocket here = host->accept();
    int ends[2], value = 7, got = 0;
    char byte = 0;

    ASSERT_EQ(::pipe(ends), 0);
    const Fd reading(ends[0]), writing(ends[1]);
    here.send(&value, sizeof value, {reading.get(), writing.get()});
    const std::vector<Fd> fds = client.receive(&got, sizeof got);
    EXPECT_EQ(got, 7);
    ASSERT_EQ(fds.size(), 2u);
    ASSERT_EQ(::write(fds[1].get(), "x", 1), 1);
    ASSERT_EQ(::read(reading.get(), &byte, 1), 1);
    EXPECT_EQ(byte, 'x');
}

/* Leaves a socket whose listener is gone, as after a process's death. */
void leave_dead_socket(const std::string &path)
{
    sockaddr_un address{};
    const Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));

    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(socket.get(), 1), 0);
}

/* The next host removes it; living processes do not notice. */
TEST(NodeRendezvous, WhatADeadHostHasLeftGoes)
{
    ScratchDirectory scratch;
    leave_dead_socket(scratch / "dead.rendezvous");
    leave_dead_socket(scratch / "dead.ctl");
    ckpt::write_text_file(scratch / "text.rendezvous", "no socket", "file");
    auto other = RendezvousListener::open(scratch.path(), "other.rendezvous");
    auto host = RendezvousListener::open(scratch.path(), "host.rendezvous");
    ASSERT_TRUE(other && host);
    auto names = scratch.names();
    std::ranges::sort(names);
    EXPECT_EQ(names, (std::vector<std::string>{"dead.ctl", "host.rendezvous", "other.rendezvous",
                                               "text.rendezvous"}));
    RendezvousSocket client = RendezvousSocket::connect(scratch.path(), "other.rendezvous");
    RendezvousSocket here = other->accept(); /* this is the first connection */
    int value = 7, got = 0;
    client.send(&value, sizeof value, {});
    (void)here.receive(&got, sizeof got);
    EXPECT_EQ(got, 7);
}

/* The host has died, or another program sends: the client must not wait for ever. */
TEST(NodeRendezvous, TellsAnEndAndAWrongPacket)
{
    ScratchDirectory scratch;
    auto host = RendezvousListener::open(scratch.path(), "place");
    RendezvousSocket client = RendezvousSocket::connect(scratch.path(), "place");
    long value = 0;
    {
        RendezvousSocket here = host->accept();
        here.send("four", 4, {});
    }
    EXPECT_NE(error_of([&] { (void)client.receive(&value, sizeof value); }).find("wrong length"),
              std::string::npos);
    EXPECT_NE(error_of([&] { (void)client.receive(&value, sizeof value); }).find("has ended"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                  (void)RendezvousSocket::connect(scratch.path(), "nobody");
              }).find("No such file"),
              std::string::npos);
}

/* A client that has died before it connected never comes. */
TEST(NodeRendezvous, WaitsOnlyAsLongAsTheCheckAllows)
{
    ScratchDirectory scratch;
    auto host = RendezvousListener::open(scratch.path(), "place");
    const auto check = [] { throw ckpt::Error("it has died"); };
    EXPECT_EQ(error_of([&] { (void)host->accept(check); }), "it has died");
}

TEST(Siblings, AreLivingProcessesOfOneParent)
{
    /* The children have one parent: this process. */
    const auto count_in_child = [](std::size_t expected) {
        return run_in_child([expected] {
            if (ckpt::restart::count_siblings() != expected) {
                _exit(1);
            }
        });
    };
    EXPECT_EQ(count_in_child(1), 0);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        char byte;
        ::close(ends[1]);
        _exit(static_cast<int>(::read(ends[0], &byte, 1))); /* waits for the end of the test */
    }
    ::close(ends[0]);
    EXPECT_EQ(count_in_child(2), 0);
    ::close(ends[1]);
    siginfo_t ended;
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(other), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(count_in_child(1), 0) << "a zombie counts";
    ASSERT_EQ(::waitpid(other, nullptr, 0), other);
}

TEST(Siblings, MayComeLateButNotGo)
{
    std::size_t count = 1;
    SiblingWatch patient(3, std::chrono::hours(1), [&] { return count; });
    SiblingWatch impatient(3, std::chrono::milliseconds(-1), [&] { return count; });
    EXPECT_EQ(error_of([&] { patient.check(); patient.check(); }), "");
    EXPECT_EQ(error_of([&] { impatient.check(); }), "");
    EXPECT_NE(error_of([&] { impatient.check(); }).find("1 of 3 run"), std::string::npos);
    count = 3;
    EXPECT_EQ(error_of([&] { impatient.check(); }), "");
    count = 2; /* one is gone */
    EXPECT_EQ(error_of([&] { impatient.check(); }), "");
    EXPECT_NE(error_of([&] { impatient.check(); }).find("2 of 3 run"), std::string::npos);
}

} // namespace
