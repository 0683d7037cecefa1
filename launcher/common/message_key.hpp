/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_key.hpp - the secret that a job's processes share, and the tags that authenticate their
 * messages (HMAC-SHA-256, RFC 2104).
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

    /* Returns a random key. */
    static MessageKey make();
    /* Accepts 64 hexadecimal digits; returns nothing for any other text. */
    static std::optional<MessageKey> parse(std::string_view text);
    std::string text() const;
    std::span<const unsigned char, size> bytes() const { return bytes_; }

    /* Returns another key, derived from this one and the label: for one connection, direction or
     * purpose. This key cannot be computed from the derived one. */
    MessageKey derive(std::string_view label) const;

    /* Returns the tag of all parts, concatenated. */
    Tag tag(std::initializer_list<std::span<const std::byte>> parts) const;

    bool operator==(const MessageKey &other) const;

  private:
    std::array<unsigned char, size> bytes_{};
};

/* Takes the same time for a wrong tag as for a right one. `given` may be shorter than a full
 * tag: only its bytes are compared, at least 16. */
bool is_tag(std::span<const std::byte> given, const MessageKey::Tag &right);

} // namespace ckpt
