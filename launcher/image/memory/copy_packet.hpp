/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_packet.hpp - packets with descriptors about a frozen copy: between ckpt-restart, the copy
 * and the agent (docs/protocol.md, section 14).
 */
#pragma once

#include "common/fd.hpp"

#include "ckpt/copy_orders.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

struct CopyPacket {
    ckpt_copy_order order;
    std::string text; /* what follows, up to the first NUL */
    std::vector<Fd> descriptors;
};

/* Sends an order or an answer; sets its magic, version and number of descriptors. The descriptors
 * stay the caller's, and are at most CKPT_COPY_DESCRIPTORS_MOST. Returns 0, or errno. */
int send_copy_packet(int connection, ckpt_copy_order order, std::span<const std::byte> tail,
                     std::span<const int> descriptors);

/* Waits for a packet. Returns nothing if the other end has gone. Throws Error, also for a packet of
 * another version. */
std::optional<CopyPacket> receive_copy_packet(int connection);

} // namespace ckpt
