/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_message.hpp - a rank's message to its agent that carries a descriptor.
 */
#pragma once

#include "ckpt/wire.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>

namespace ckpt::test
{

/* Returns false if the message could not be sent whole. */
inline bool send_with_descriptor(int socket, const ckpt_message &message,
                                 int descriptor)
{
    iovec vector = {const_cast<ckpt_message *>(&message), sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
    msghdr header{};

    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr *part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
    return sendmsg(socket, &header, MSG_NOSIGNAL) == sizeof message;
}

} // namespace ckpt::test
