/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous_socket.cpp - exchanges packets with descriptors between processes of one user.
 */
#include "config.h"
#include "restart/rendezvous_socket.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/files/temporary_name.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ckpt::restart
{

namespace
{

constexpr const char *what = "cannot meet the other ranks of this node";
constexpr int check_interval_ms = 1000;

using Room = DescriptorRoom<RendezvousSocket::most_descriptors>;

/* Goes through /proc/self/fd, because a socket address has at most 107 bytes, however long the
 * directory's name is. */
sockaddr_un address_in(const Fd &directory, const std::string &name)
{
    const std::string path = fmt::format("/proc/self/fd/{}/{}", directory.get(), name);
    sockaddr_un address{};

    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        fail("{}: {} is too long a name", what, name);
    }
    path.copy(address.sun_path, path.size());
    return address;
}

Fd open_directory(const std::filesystem::path &directory)
{
    return open_file(directory, O_RDONLY | O_DIRECTORY, 0, "directory");
}

Fd make_socket()
{
    Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));

    if (!socket) {
        fail_errno(errno, "{}", what);
    }
    return socket;
}

/* Whether no process has the socket open any more. The connection attempt uses another socket
 * type, so a living owner does not notice it. */
bool is_dead(const Fd &directory, const std::string &name)
{
    const sockaddr_un address = address_in(directory, name);
    const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

    return socket &&
           ::connect(socket.get(), reinterpret_cast<const sockaddr *>(&address),
                     sizeof address) < 0 &&
           errno == ECONNREFUSED;
}

/* Names are unique to a launch, so a dead socket stays dead. */
void remove_dead(const Fd &directory, const std::filesystem::path &path)
{
    std::error_code error;

    for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename();
        if (name.ends_with(rendezvous_ending) && entry->is_socket(error) &&
            is_dead(directory, name)) {
            ::unlinkat(directory.get(), name.c_str(), 0);
        }
    }
}

} // namespace

RendezvousSocket RendezvousSocket::connect(const std::filesystem::path &directory,
                                           const std::string &name)
{
    const Fd below = open_directory(directory);
    const sockaddr_un address = address_in(below, name);
    Fd socket = make_socket();

    if (::connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) < 0) {
        fail_errno(errno, "{}", what);
    }
    return RendezvousSocket(std::move(socket));
}

void RendezvousSocket::send(const void *packet, std::size_t size, const std::vector<int> &fds)
{
    iovec part{const_cast<void *>(packet), size};
    Room room;
    msghdr message{};

    message.msg_iov = &part;
    message.msg_iovlen = 1;
    attach_descriptors(message, room.bytes, fds);
    while (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) {
            fail_errno(errno, "{}", what);
        }
    }
}

std::vector<Fd> RendezvousSocket::receive(void *packet, std::size_t size)
{
    iovec part{packet, size};
    Room room;
    msghdr message{};
    ssize_t got = -1;

    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.bytes.data();
    message.msg_controllen = room.bytes.size();
    while ((got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC)) < 0) {
        if (errno != EINTR) {
            fail_errno(errno, "{}", what);
        }
    }
    std::vector<Fd> fds = descriptors_of(message);
    if (static_cast<std::size_t>(got) != size || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        fail("{}: {}", what, got == 0 ? "one of them has ended" : "a packet of wrong length");
    }
    return fds;
}

/* The socket listens before it gets its name, so that every process that finds the name can
 * connect. */
std::optional<RendezvousListener> RendezvousListener::open(const std::filesystem::path &directory,
                                                           const std::string &name)
{
    const Fd below = open_directory(directory);
    const std::string fresh = temporary_name(name);
    const sockaddr_un address = address_in(below, fresh);
    Fd socket = make_socket();

    if (::bind(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) < 0) {
        fail_errno(errno, "{}", what);
    }
    int error = ::listen(socket.get(), SOMAXCONN) < 0 ? errno : 0;
    if (error == 0 && ::linkat(below.get(), fresh.c_str(), below.get(), name.c_str(), 0) < 0) {
        error = errno;
    }
    ::unlinkat(below.get(), fresh.c_str(), 0);
    if (error == EEXIST) {
        return std::nullopt;
    }
    if (error != 0) {
        fail_errno(error, "{}", what);
    }
    remove_dead(below, directory);
    return RendezvousListener(directory / name, std::move(socket));
}

RendezvousListener::RendezvousListener(std::filesystem::path path, Fd socket)
    : path_(std::move(path)), socket_(std::move(socket))
{
}

RendezvousListener::RendezvousListener(RendezvousListener &&other) noexcept
    : path_(std::exchange(other.path_, {})), socket_(std::move(other.socket_))
{
}

RendezvousListener::~RendezvousListener()
{
    if (!path_.empty()) {
        ::unlink(path_.c_str());
    }
}

RendezvousSocket RendezvousListener::accept(const std::function<void()> &check)
{
    for (;;) {
        pollfd wanted{socket_.get(), POLLIN, 0};
        check();
        if (::poll(&wanted, 1, check_interval_ms) == 0) {
            continue;
        }
        Fd client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (client) {
            return RendezvousSocket(std::move(client));
        }
        if (errno != EINTR && errno != ECONNABORTED) {
            fail_errno(errno, "{}", what);
        }
    }
}

} // namespace ckpt::restart
