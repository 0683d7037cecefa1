/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_passing.cpp - control data of sendmsg(2) and recvmsg(2).
 */
#include "common/sockets/descriptor_passing.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <cerrno>
#include <cstring>

namespace ckpt
{

void attach_descriptors(msghdr &message, std::span<char> room, std::span<const int> descriptors)
{
    if (descriptors.empty()) {
        return;
    }
    CKPT_EXPECT(CMSG_SPACE(descriptors.size_bytes()) <= room.size());
    message.msg_control = room.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

std::vector<Fd> descriptors_of(msghdr &message)
{
    std::vector<Fd> descriptors;

    for (cmsghdr *header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; i++) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
            descriptors.emplace_back(descriptor);
        }
    }
    return descriptors;
}

std::array<Fd, 2> connected_pair(int type, std::string_view what)
{
    int ends[2];

    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) {
        fail_errno(errno, "{}", what);
    }
    return {Fd(ends[0]), Fd(ends[1])};
}

} // namespace ckpt
