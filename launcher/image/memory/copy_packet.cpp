/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_packet.cpp - sendmsg(2) and recvmsg(2) with SCM_RIGHTS.
 */
#include "config.h"
#include "image/memory/copy_packet.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/refusal.hpp"
#include "common/sockets/descriptor_passing.hpp"

#include "ckpt/failure.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace ckpt
{

namespace
{

using Room = DescriptorRoom<CKPT_COPY_DESCRIPTORS_MOST>;

struct Received {
    ckpt_copy_order order;
    char text[sizeof(ckpt_failure::text) + 1]; /* the last byte stays 0 */
};

} // namespace

int send_copy_packet(int connection, ckpt_copy_order order, std::span<const std::byte> tail,
                     std::span<const int> descriptors)
{
    Room room;
    std::array<iovec, 2> parts = {iovec{&order, sizeof order},
                                  iovec{const_cast<std::byte *>(tail.data()), tail.size()}};
    msghdr message{};

    CKPT_EXPECT(tail.size() <= CKPT_COPY_TAIL_MOST);
    order.magic = CKPT_COPY_ORDER_MAGIC;
    order.version = CKPT_COPY_ORDER_VERSION;
    order.count = static_cast<std::uint32_t>(descriptors.size());
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    attach_descriptors(message, room.bytes, descriptors);
    const auto size = static_cast<ssize_t>(sizeof order + tail.size());
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(connection, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    CKPT_INVARIANT(sent < 0 || sent == size); /* packets are sent as a whole */
    return sent < 0 ? errno : 0;
}

std::optional<CopyPacket> receive_copy_packet(int connection)
{
    Room room;
    Received received{};
    iovec part = {&received, sizeof received - 1};
    msghdr message{};
    ssize_t got = -1;

    message.msg_iov = &part;
    message.msg_iovlen = 1;
    do {
        message.msg_control = room.bytes.data();
        message.msg_controllen = room.bytes.size();
        got = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) {
        return std::nullopt;
    }
    if (got < 0) {
        fail_errno(errno, "a packet about a copy cannot be received");
    }
    CopyPacket packet{received.order, received.text, descriptors_of(message)};
    if (got < static_cast<ssize_t>(sizeof packet.order) ||
        packet.order.magic != CKPT_COPY_ORDER_MAGIC ||
        packet.order.version != CKPT_COPY_ORDER_VERSION) {
        refuse(CKPT_REFUSAL_INTERNAL_ERROR, "a packet about a copy is of another version, {}",
               packet.order.version);
    }
    return packet;
}

} // namespace ckpt
