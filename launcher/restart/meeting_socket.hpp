/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting_socket.hpp - packets with descriptors between processes of one user.
 */
#pragma once

#include "common/fd.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <vector>

namespace ckpt::restart
{

/* A datagram socket under an abstract name, which ends with it. No packet is
 * lost; those of other users are dropped. Functions throw Error. */
class MeetingSocket
{
  public:
    struct Address {
        sockaddr_un name = {};
        socklen_t size = 0;
    };

    MeetingSocket();

    static Address address(const std::string &name);

    /* False if somebody else has the name. */
    bool take(const Address &name);
    void take_any();

    /* With at most most_descriptors. */
    static constexpr std::size_t most_descriptors = 2;
    void send(const void *packet, std::size_t size, const Address &to,
              const std::vector<int> &fds);

    /* Waits for a packet of just `size` bytes; who sent it, and what came
     * along. */
    Address receive(void *packet, std::size_t size, std::vector<Fd> &fds);

  private:
    Fd socket_;
};

} // namespace ckpt::restart
