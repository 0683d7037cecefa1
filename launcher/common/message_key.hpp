/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_key.hpp - the secret that the processes of a job share, and the tags by
 * which they know each other's messages (HMAC-SHA-256, RFC 2104).
 */
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ckpt
{

class MessageKey
{
  public:
    static constexpr std::size_t size = 32; /* bytes */
    using Tag = std::array<std::byte, 32>;

    /* A random one. */
    static MessageKey make();
    /* 64 hexadecimal digits; nothing for any other text. */
    static std::optional<MessageKey> parse(std::string_view text);
    std::string text() const;
    std::span<const unsigned char, size> bytes() const { return bytes_; }

    /* Another key, that follows from this one and the label: for one connection, one
     * direction, one purpose. Who has it cannot tell this one. */
    MessageKey derive(std::string_view label) const;

    /* Of all parts, one after the other. */
    Tag tag(std::initializer_list<std::span<const std::byte>> parts) const;

    bool operator==(const MessageKey &other) const;

  private:
    std::array<unsigned char, size> bytes_{};
};

/* Takes as long for a wrong tag as for a right one. `given` may be of any length: only
 * as many bytes as it has, but at least 16, are compared. */
bool is_tag(std::span<const std::byte> given, const MessageKey::Tag &right);

} // namespace ckpt
