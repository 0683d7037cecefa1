/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_seal.hpp - one direction of a connection between two authenticated agents. Each message has
 * a number and a tag, so no third party can forge, change, omit, repeat or reorder messages.
 */
#pragma once

#include "agent/links/frame.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt
{

class FrameSeal
{
  public:
    /* key: used only for this direction of this connection */
    explicit FrameSeal(const MessageKey &key)
        : key_(key) {}

    /* For the sender: returns the next message as bytes on the wire. */
    std::string seal(std::string payload);
    /* For the receiver. Throws Rejected unless `frame` is the next message. */
    void check(const Frame &frame);

    /* Derives a key for other data in the same direction. */
    MessageKey derive(std::string_view label) const { return key_.derive(label); }

  private:
    MessageKey key_;
    std::uint64_t next_ = 0;
};

} // namespace ckpt
