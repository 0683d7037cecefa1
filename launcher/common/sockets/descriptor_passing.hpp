/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_passing.hpp - descriptors that go with a message over a Unix socket (SCM_RIGHTS,
 * unix(7)).
 */
#pragma once

#include "common/fd.hpp"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ckpt
{

/* Room for the control data of a message with so many descriptors. */
template <std::size_t most>
struct DescriptorRoom {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most * sizeof(int))> bytes{};
};

/* Puts the descriptors, which stay the caller's, into `room` as the control data of the message. It
 * must have room for them, and live as long as the message. Without descriptors the message stays
 * as it is. */
void attach_descriptors(msghdr &message, std::span<char> room, std::span<const int> descriptors);

/* Returns the descriptors that came with a received message, in their order. */
std::vector<Fd> descriptors_of(msghdr &message);

/* Returns both ends of a new connection; they are closed at execve(2). type: SOCK_SEQPACKET or
 * SOCK_STREAM. what: the message if that is impossible. Throws Error. */
std::array<Fd, 2> connected_pair(int type, std::string_view what);

} // namespace ckpt
