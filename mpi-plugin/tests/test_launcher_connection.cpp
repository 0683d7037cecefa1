// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_launcher_connection.cpp - the connection to the launcher's PMIx server is told from others.
 */
extern "C" {
#include "lower/launcher_connection.h"
}

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace
{

// A connection to a server of this process.
template <typename Address>
class Connection
{
  public:
    explicit Connection(Address address, in_port_t Address::*port)
    {
        socklen_t size = sizeof address;
        auto *any = reinterpret_cast<sockaddr *>(&address);

        listener = socket(any->sa_family, SOCK_STREAM, 0);
        client = socket(any->sa_family, SOCK_STREAM, 0);
        EXPECT_EQ(bind(listener, any, size), 0);
        EXPECT_EQ(listen(listener, 1), 0);
        EXPECT_EQ(getsockname(listener, any, &size), 0);
        EXPECT_EQ(connect(client, any, size), 0);
        number = ntohs(address.*port);
    }
    ~Connection()
    {
        close(client);
        close(listener);
    }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    int listener = -1, client = -1;
    unsigned number = 0;
};

Connection<sockaddr_in> loopback()
{
    sockaddr_in address{};

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return Connection<sockaddr_in>(address, &sockaddr_in::sin_port);
}

int is_launchers(int fd, std::string variable)
{
    std::string other = "PMIX_RANK=0";
    char *const environment[] = {other.data(), variable.data(), nullptr};

    return ckpt_launcher_connection(fd, environment);
}

TEST(LauncherConnection, IsKnownByItsAddress)
{
    const auto connection = loopback();
    const std::string port = std::to_string(connection.number);

    EXPECT_EQ(is_launchers(connection.client, "PMIX_SERVER_URI41=a.0;tcp4://127.0.0.1:" + port),
              1);
    EXPECT_EQ(is_launchers(connection.client, "PMIX_SERVER_URI2=a.0;tcp4://127.0.0.1:" + port), 1);
}

TEST(LauncherConnection, IsNotAnother)
{
    const auto connection = loopback();
    const std::string port = std::to_string(connection.number);
    const std::string uri = "PMIX_SERVER_URI41=a.0;tcp4://";

    EXPECT_EQ(is_launchers(connection.client, uri + "127.0.0.2:" + port), 0);
    EXPECT_EQ(is_launchers(connection.client, uri + "127.0.0.1:1" + port), 0);
    EXPECT_EQ(is_launchers(connection.client, "OTHER_URI=a.0;tcp4://127.0.0.1:" + port), 0);
    EXPECT_EQ(is_launchers(connection.listener, uri + "127.0.0.1:" + port), 0);
}

TEST(LauncherConnection, IsNoFileAndNoUnixSocket)
{
    int ends[2];
    const int file = open("/dev/null", O_RDONLY);

    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    EXPECT_EQ(is_launchers(file, "PMIX_SERVER_URI41=a.0;tcp4://127.0.0.1:1"), 0);
    EXPECT_EQ(is_launchers(ends[0], "PMIX_SERVER_URI41=a.0;tcp4://127.0.0.1:1"), 0);
    EXPECT_EQ(is_launchers(999, "PMIX_SERVER_URI41=a.0;tcp4://127.0.0.1:1"), 0);
    close(ends[0]);
    close(ends[1]);
    close(file);
}

TEST(LauncherConnection, MayBeOfIPv6)
{
    sockaddr_in6 address{};
    const int probe = socket(AF_INET6, SOCK_STREAM, 0);

    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    if (probe < 0 || bind(probe, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
        close(probe);
        GTEST_SKIP() << "no IPv6";
    }
    close(probe);
    const Connection<sockaddr_in6> connection(address, &sockaddr_in6::sin6_port);
    EXPECT_EQ(is_launchers(connection.client,
                           "PMIX_SERVER_URI41=a.0;tcp6://[::1]:" +
                               std::to_string(connection.number)),
              1);
}

} // namespace
