/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_seal.hpp - one direction of a connection between agents that know each other:
 * each message has its number and its tag, so that none can be made, changed, left
 * out, repeated or put elsewhere by anybody else.
 */
#pragma once

#include "agent/frame.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt
{

class FrameSeal
{
  public:
    /* key: of this direction of this connection, and of nothing else */
    explicit FrameSeal(const MessageKey &key) : key_(key) {}

    /* At the sender: the next message, as it travels. */
    std::string seal(std::string payload);
    /* At the receiver. Throws Refused unless it is the next message. */
    void check(const Frame &frame);

    /* For something else that goes in the same direction. */
    MessageKey derive(std::string_view label) const { return key_.derive(label); }

  private:
    MessageKey key_;
    std::uint64_t next_ = 0;
};

} // namespace ckpt
