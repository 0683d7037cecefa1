/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_meeting_socket.cpp - restart programs of a node find each other and hand descriptors over.
 */
#include "common/error.hpp"
#include "restart/meeting_socket.hpp"
#include "tests/child_process.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

using ckpt::Fd;
using ckpt::restart::MeetingListener;
using ckpt::restart::MeetingSocket;
using ckpt::test::error_of;
using ckpt::test::ScratchDirectory;

namespace
{

TEST(Meeting, HasOneHost)
{
    ScratchDirectory scratch;
    {
        auto host = MeetingListener::open(scratch.path(), "place");
        ASSERT_TRUE(host);
        EXPECT_FALSE(MeetingListener::open(scratch.path(), "place"));
        EXPECT_TRUE(MeetingListener::open(scratch.path(), "other place"));
        EXPECT_EQ(scratch.names(), std::vector<std::string>{"place"});
    }
    EXPECT_TRUE(scratch.names().empty());
}

TEST(Meeting, HandsDescriptorsOver)
{
    ScratchDirectory scratch;
    const std::filesystem::path deep = scratch / std::string(200, 'd');
    std::filesystem::create_directory(deep);
    auto host = MeetingListener::open(deep, "place");
    MeetingSocket guest = MeetingSocket::connect(deep, "place");
    MeetingSocket here = host->accept();
    int ends[2], value = 7, got = 0;
    char byte = 0;

    ASSERT_EQ(::pipe(ends), 0);
    const Fd reading(ends[0]), writing(ends[1]);
    here.send(&value, sizeof value, {reading.get(), writing.get()});
    const std::vector<Fd> fds = guest.receive(&got, sizeof got);
    EXPECT_EQ(got, 7);
    ASSERT_EQ(fds.size(), 2u);
    ASSERT_EQ(::write(fds[1].get(), "x", 1), 1);
    ASSERT_EQ(::read(reading.get(), &byte, 1), 1);
    EXPECT_EQ(byte, 'x');
}

/* The host has died, or another program sends: the guest must not wait for ever. */
TEST(Meeting, TellsAnEndAndAWrongPacket)
{
    ScratchDirectory scratch;
    auto host = MeetingListener::open(scratch.path(), "place");
    MeetingSocket guest = MeetingSocket::connect(scratch.path(), "place");
    long value = 0;
    {
        MeetingSocket here = host->accept();
        here.send("four", 4, {});
    }
    EXPECT_NE(error_of([&] { (void)guest.receive(&value, sizeof value); }).find("wrong length"),
              std::string::npos);
    EXPECT_NE(error_of([&] { (void)guest.receive(&value, sizeof value); }).find("has ended"),
              std::string::npos);
    EXPECT_NE(error_of([&] { (void)MeetingSocket::connect(scratch.path(), "nobody"); }).find(
                  "No such file"),
              std::string::npos);
}

} // namespace
