/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_message.hpp - a rank's message to its agent that carries a descriptor.
 */
#pragma once

#include "common/sockets/descriptor_passing.hpp"

#include "ckpt/wire.h"

#include <sys/socket.h>
#include <sys/uio.h>

namespace ckpt::test
{

/* Returns false if the message could not be sent whole. */
inline bool send_with_descriptor(int socket, const ckpt_message &message,
                                 int descriptor)
{
    iovec vector = {const_cast<ckpt_message *>(&message), sizeof message};
    DescriptorRoom<1> room;
    msghdr header{};

    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    attach_descriptors(header, room.bytes, {&descriptor, 1});
    return sendmsg(socket, &header, MSG_NOSIGNAL) == sizeof message;
}

} // namespace ckpt::test
