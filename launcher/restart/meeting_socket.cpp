/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting_socket.cpp - packets with descriptors between processes of one user.
 */
#include "config.h"
#include "restart/meeting_socket.hpp"

#include "common/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace ckpt::restart
{

namespace
{

constexpr const char *what = "cannot meet the other ranks of this node";

constexpr std::size_t descriptors_size =
    MeetingSocket::most_descriptors * sizeof(int);

/* What comes along with a packet: the sender, and descriptors. */
union Control {
    cmsghdr alignment;
    char bytes[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(descriptors_size)];
};

void take_descriptors(const cmsghdr &header, std::vector<Fd> &fds)
{
    const unsigned char *at = CMSG_DATA(&header);
    std::size_t size = header.cmsg_len - CMSG_LEN(0);
    for (; size >= sizeof(int); size -= sizeof(int), at += sizeof(int)) {
        int given = -1;
        std::memcpy(&given, at, sizeof(given));
        fds.emplace_back(given);
    }
}

/* Takes the descriptors; whether the sender is of this user. */
bool examine(msghdr &message, std::vector<Fd> &fds)
{
    bool is_own = false;
    for (cmsghdr *header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (header->cmsg_type == SCM_CREDENTIALS) {
            ucred sender{};
            std::memcpy(&sender, CMSG_DATA(header), sizeof(sender));
            is_own = sender.uid == ::geteuid();
        } else if (header->cmsg_type == SCM_RIGHTS) {
            take_descriptors(*header, fds);
        }
    }
    return is_own;
}

} // namespace

MeetingSocket::MeetingSocket()
    : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))
{
    const int on = 1;
    if (!socket_ || ::setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &on,
                                 sizeof(on)) != 0) {
        fail_errno(errno, "{}", what);
    }
}

MeetingSocket::Address MeetingSocket::address(const std::string &name)
{
    Address address;
    address.name.sun_family = AF_UNIX;
    name.copy(address.name.sun_path + 1, sizeof(address.name.sun_path) - 1);
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                          name.size());
    return address;
}

bool MeetingSocket::take(const Address &name)
{
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr *>(&name.name),
               name.size) == 0) {
        return true;
    }
    if (errno != EADDRINUSE) {
        fail_errno(errno, "{}", what);
    }
    return false;
}

void MeetingSocket::take_any()
{
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr *>(&any),
               sizeof(any.sun_family)) != 0) {
        fail_errno(errno, "{}", what);
    }
}

void MeetingSocket::send(const void *packet, std::size_t size,
                         const Address &to, const std::vector<int> &fds)
{
    Address destination = to;
    iovec part{const_cast<void *>(packet), size};
    Control control{};
    msghdr message{};
    message.msg_name = &destination.name;
    message.msg_namelen = destination.size;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const std::size_t fds_size = fds.size() * sizeof(int);
    if (!fds.empty()) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(fds_size);
        cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds_size);
        std::memcpy(CMSG_DATA(header), fds.data(), fds_size);
    }
    while (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) {
            fail_errno(errno, "{}", what);
        }
    }
}

MeetingSocket::Address MeetingSocket::receive(void *packet, std::size_t size,
                                              std::vector<Fd> &fds)
{
    for (;;) {
        Address sender;
        iovec part{packet, size};
        Control control{};
        msghdr message{};
        message.msg_name = &sender.name;
        message.msg_namelen = sizeof(sender.name);
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        ssize_t got =
            ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
        if (got < 0 && errno != EINTR) {
            fail_errno(errno, "{}", what);
        }
        if (got >= 0 && examine(message, fds) &&
            static_cast<std::size_t>(got) == size) {
            sender.size = message.msg_namelen;
            return sender;
        }
        fds.clear();
    }
}

} // namespace ckpt::restart
