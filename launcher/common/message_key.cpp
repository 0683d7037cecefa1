/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_key.cpp - keys and tags, with libsodium.
 */
#include "common/message_key.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sodium.h>

namespace ckpt
{

namespace
{

constexpr std::size_t shortest_tag = 16;

static_assert(crypto_auth_hmacsha256_KEYBYTES == MessageKey::size);
static_assert(crypto_auth_hmacsha256_BYTES == std::tuple_size<MessageKey::Tag>::value);

/* Initialises the library, which must come before any other call. Repeated calls are harmless. */
void prepare()
{
    if (sodium_init() < 0) {
        fail("the system gives no random numbers");
    }
}

} // namespace

MessageKey MessageKey::make()
{
    MessageKey key;

    prepare();
    randombytes_buf(key.bytes_.data(), key.bytes_.size());
    return key;
}

std::optional<MessageKey> MessageKey::parse(std::string_view text)
{
    MessageKey key;
    std::size_t length = 0;

    prepare();
    if (text.size() != 2 * size ||
        sodium_hex2bin(key.bytes_.data(), size, text.data(), text.size(), nullptr, &length,
                       nullptr) != 0 ||
        length != size) {
        return std::nullopt;
    }
    return key;
}

std::string MessageKey::text() const
{
    std::string text(2 * size + 1, '\0');

    sodium_bin2hex(text.data(), text.size(), bytes_.data(), size);
    text.pop_back();
    CKPT_INVARIANT(text.size() == 2 * size);
    return text;
}

MessageKey MessageKey::derive(std::string_view label) const
{
    const Tag tag = this->tag({std::as_bytes(std::span(label))});
    MessageKey key;

    for (std::size_t i = 0; i < size; i++) {
        key.bytes_[i] = std::to_integer<unsigned char>(tag[i]);
    }
    return key;
}

MessageKey::Tag
MessageKey::tag(std::initializer_list<std::span<const std::byte>> parts) const
{
    crypto_auth_hmacsha256_state state;
    Tag tag;

    crypto_auth_hmacsha256_init(&state, bytes_.data(), bytes_.size());
    for (std::span<const std::byte> part : parts) {
        crypto_auth_hmacsha256_update(
            &state, reinterpret_cast<const unsigned char *>(part.data()), part.size());
    }
    crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char *>(tag.data()));
    sodium_memzero(&state, sizeof state);
    return tag;
}

bool MessageKey::operator==(const MessageKey &other) const
{
    return sodium_memcmp(bytes_.data(), other.bytes_.data(), size) == 0;
}

bool is_tag(std::span<const std::byte> given, const MessageKey::Tag &right)
{
    static_assert(shortest_tag <= std::tuple_size_v<MessageKey::Tag>);
    return given.size() >= shortest_tag && given.size() <= right.size() &&
           sodium_memcmp(given.data(), right.data(), given.size()) == 0;
}

} // namespace ckpt
