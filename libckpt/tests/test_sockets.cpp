/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sockets.cpp - sockets: saved, then restored in a process without them.
 */
#include "tests/files_fixture.hpp"

#include <array>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace
{

class Sockets : public Files
{
  protected:
    std::array<int, 2> hold_pair(int type)
    {
        int ends[2] = {-1, -1};

        EXPECT_EQ(socketpair(AF_UNIX, type, 0, ends), 0);
        return {hold(ends[0]), hold(ends[1])};
    }

    /* A listening TCP socket on an unused port. */
    int hold_listener(sockaddr_in &address)
    {
        socklen_t size = sizeof address;
        int fd = hold(socket(AF_INET, SOCK_STREAM, 0));
        const int on = 1;

        address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
        EXPECT_EQ(bind(fd, (sockaddr *)&address, size), 0);
        EXPECT_EQ(listen(fd, 7), 0);
        EXPECT_EQ(getsockname(fd, (sockaddr *)&address, &size), 0);
        return fd;
    }

    /* A socket connected to the listener, and the accepted one. */
    std::array<int, 2> hold_connection(int listener, const sockaddr_in &address)
    {
        int client = hold(socket(AF_INET, SOCK_STREAM, 0));

        EXPECT_EQ(connect(client, (const sockaddr *)&address, sizeof address),
                  0);
        return {client, hold(accept(listener, nullptr, nullptr))};
    }

    /* Frees their ports. */
    void close_all()
    {
        for (int fd : opened) {
            close(fd);
        }
        opened.clear();
    }
};

std::uint64_t inode_of(int fd)
{
    struct stat status {
    };

    EXPECT_EQ(fstat(fd, &status), 0);
    return status.st_ino;
}

bool takes(int fd, const std::string &text)
{
    std::string got(text.size() + 1, '\0');

    return recv(fd, got.data(), got.size(), MSG_DONTWAIT) ==
               ssize_t(text.size()) &&
           got.compare(0, text.size(), text) == 0;
}

TEST_F(Sockets, UnixStreamPairKeepsBytesFlagsAndOptions)
{
    const auto [a, b] = hold_pair(SOCK_STREAM | SOCK_NONBLOCK);
    const std::string text(100000, 'u');
    const timeval timeout{3, 0};
    int copy = hold(dup(a));

    fcntl(b, F_SETFL, 0);
    ASSERT_EQ(setsockopt(b, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout),
              0);
    ASSERT_EQ(write(a, text.data(), text.size()), ssize_t(text.size()));
    ASSERT_EQ(write(a, "!", 1), 1);
    ASSERT_EQ(write(b, "back", 4), 4);
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(save(), 0) << failure.text;
    }
    EXPECT_EQ(file(copy).same_as, a);
    in_child([&, a = a, b = b] {
        timeval got{};
        socklen_t size = sizeof got;

        REQUIRE(takes(b, text + "!"));
        REQUIRE(takes(copy, "back"));
        REQUIRE(write(b, "x", 1) == 1 && takes(a, "x"));
        REQUIRE((fcntl(copy, F_GETFL) & O_NONBLOCK) != 0);
        REQUIRE((fcntl(b, F_GETFL) & O_NONBLOCK) == 0);
        REQUIRE(getsockopt(b, SOL_SOCKET, SO_RCVTIMEO, &got, &size) == 0);
        REQUIRE(got.tv_sec == 3);
        REQUIRE(close(a) == 0 && close(copy) == 0);
        REQUIRE(recv(b, &got, 1, 0) == 0);
    });
    EXPECT_TRUE(takes(b, text + "!")) << "the save took something out";
    EXPECT_TRUE(takes(a, "back"));
}

TEST_F(Sockets, PacketsKeepTheirLimits)
{
    for (int type : {SOCK_SEQPACKET, SOCK_DGRAM}) {
        const auto [a, b] = hold_pair(type);

        for (const char *text : {"one", "three", "", "last"}) {
            ASSERT_EQ(send(a, text, strlen(text), 0), ssize_t(strlen(text)));
        }
        if (type == SOCK_SEQPACKET) { /* there, no bytes mean the end */
            ASSERT_TRUE(takes(b, "one") && takes(b, "three") && takes(b, ""));
            ASSERT_EQ(send(a, "one", 3, 0), 3);
        }
        ASSERT_EQ(save(), 0) << failure.text;
        in_child([&, b = b] {
            if (type == SOCK_DGRAM) {
                REQUIRE(takes(b, "one") && takes(b, "three") && takes(b, ""));
                REQUIRE(takes(b, "last"));
            } else {
                REQUIRE(takes(b, "last") && takes(b, "one"));
            }
            REQUIRE(recv(b, nullptr, 0, MSG_DONTWAIT) < 0 && errno == EAGAIN);
        });
    }
}

TEST_F(Sockets, ShutAndClosedEnds)
{
    const auto [a, b] = hold_pair(SOCK_STREAM);
    int ends[2];

    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    int left = hold(ends[0]);
    ASSERT_EQ(write(ends[1], "testament", 9), 9);
    close(ends[1]);
    ASSERT_EQ(write(a, "all", 3), 3);
    ASSERT_EQ(shutdown(a, SHUT_WR), 0);
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&, a = a, b = b] {
        char c;

        REQUIRE(takes(b, "all") && recv(b, &c, 1, 0) == 0);
        REQUIRE(write(b, "y", 1) == 1 && takes(a, "y"));
        REQUIRE(send(a, "n", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
        REQUIRE(takes(left, "testament") && recv(left, &c, 1, 0) == 0);
    });
}

TEST_F(Sockets, PassedDescriptorsAreRefusedAndOtherProcessesNamed)
{
    const auto [a, b] = hold_pair(SOCK_STREAM);
    char byte = 'x';
    iovec vector{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = "";
    msghdr message{};

    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &a, sizeof(int));
    ASSERT_EQ(sendmsg(a, &message, 0), 1);
    expect_refused(b, "passed");

    ASSERT_TRUE(takes(b, "x"));
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_FALSE(ckpt_files_lead_out());
    lower = b; /* as if it belonged to another process */
    ASSERT_EQ(save(), 0) << failure.text;
    EXPECT_TRUE(ckpt_files_lead_out());
    EXPECT_EQ(file(a).value, inode_of(b));
    lower = -1;
}

TEST_F(Sockets, UnixListenerAndDatagramsWithNames)
{
    sockaddr_un address{AF_UNIX, ""};
    sockaddr_un other{AF_UNIX, ""};
    int listener = hold(socket(AF_UNIX, SOCK_STREAM, 0));
    int server = hold(socket(AF_UNIX, SOCK_DGRAM, 0));
    int client = hold(socket(AF_UNIX, SOCK_DGRAM, 0));

    strcpy(address.sun_path, (directory + "/listen").c_str());
    ASSERT_EQ(bind(listener, (sockaddr *)&address, sizeof address), 0);
    ASSERT_EQ(listen(listener, 3), 0);
    strcpy(other.sun_path, (directory + "/server").c_str());
    ASSERT_EQ(bind(server, (sockaddr *)&other, sizeof other), 0);
    const sa_family_t automatic = AF_UNIX;
    ASSERT_EQ(bind(client, (const sockaddr *)&automatic, sizeof automatic), 0);
    ASSERT_EQ(connect(client, (sockaddr *)&other, sizeof other), 0);
    ASSERT_EQ(send(client, "hello", 5, 0), 5);
    ASSERT_EQ(save(), 0) << failure.text;
    close_all();
    in_child([&] {
        sockaddr_un from{};
        socklen_t size = sizeof from;
        char text[8] = "";
        int caller = socket(AF_UNIX, SOCK_STREAM, 0);

        REQUIRE(recvfrom(server, text, 8, MSG_DONTWAIT, (sockaddr *)&from,
                         &size) == 5);
        REQUIRE(size == sizeof(sa_family_t) + 6); /* the client's own name */
        REQUIRE(send(client, "again", 5, 0) == 5 && takes(server, "again"));
        REQUIRE(connect(caller, (sockaddr *)&address, sizeof address) == 0);
        REQUIRE(accept(listener, nullptr, nullptr) >= 0);
    });
}

TEST_F(Sockets, TcpConnectionInOneProcess)
{
    sockaddr_in address;
    int listener = hold_listener(address);
    const auto [client, server] = hold_connection(listener, address);
    const std::string text(20000, 't');
    const int on = 1;

    ASSERT_EQ(setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
    ASSERT_EQ(write(client, text.data(), text.size()), ssize_t(text.size()));
    ASSERT_EQ(write(server, "reply", 5), 5);
    ASSERT_EQ(save(), 0) << failure.text;
    close_all();
    in_child([&, client = client, server = server] {
        int value = 0;
        socklen_t size = sizeof value;
        sockaddr_in name{};

        REQUIRE(takes(client, "reply"));
        REQUIRE(takes(server, text));
        REQUIRE(write(server, "x", 1) == 1 && read(client, &value, 1) == 1);
        REQUIRE(getsockopt(client, IPPROTO_TCP, TCP_NODELAY, &value, &size) ==
                    0 &&
                value != 0);
        size = sizeof name;
        REQUIRE(getpeername(client, (sockaddr *)&name, &size) == 0);
        REQUIRE(name.sin_port == address.sin_port);
        int more = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(connect(more, (sockaddr *)&address, sizeof address) == 0);
        REQUIRE(accept(listener, nullptr, nullptr) >= 0);
    });
}

TEST_F(Sockets, TcpWithoutItsListenerAndHalfDone)
{
    sockaddr_in address;
    int listener = hold_listener(address);
    const auto [client, server] = hold_connection(listener, address);

    close(listener);
    ASSERT_EQ(save(), 0) << failure.text;
    in_child([&, client = client, server = server] {
        REQUIRE(write(client, "x", 1) == 1);
        char c;
        REQUIRE(read(server, &c, 1) == 1);
    });
    /* More than the other end accepts. */
    const std::string much(1 << 23, 'm');
    fcntl(client, F_SETFL, O_NONBLOCK);
    pollfd room{client, POLLOUT, 0};
    while (poll(&room, 1, 300) == 1 &&
           write(client, much.data(), much.size()) > 0) {
    }
    expect_refused(client, "no room");
    close(server); /* a reset: bytes are unread */
    expect_refused(client, "connected or closed");
    const auto [other_client, other_server] =
        hold_connection(hold_listener(address), address);
    close(client);
    close(other_server);
    expect_refused(other_client,
                   "connected to 127.0.0.1:" +
                       std::to_string(ntohs(address.sin_port)));
}

TEST_F(Sockets, Udp)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    int server = hold(socket(AF_INET, SOCK_DGRAM, 0));
    int client = hold(socket(AF_INET, SOCK_DGRAM, 0));

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(server, (sockaddr *)&address, size), 0);
    ASSERT_EQ(getsockname(server, (sockaddr *)&address, &size), 0);
    ASSERT_EQ(connect(client, (sockaddr *)&address, size), 0);
    ASSERT_EQ(send(client, "first", 5, 0), 5);
    ASSERT_EQ(send(client, "second", 6, 0), 6);
    ASSERT_EQ(save(), 0) << failure.text;
    close_all();
    in_child([&] {
        REQUIRE(takes(server, "first") && takes(server, "second"));
        REQUIRE(send(client, "third", 5, 0) == 5 && takes(server, "third"));
    });
}

} // namespace
