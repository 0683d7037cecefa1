/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_tags.cpp - one-time keys and Poly1305, by libsodium.
 */
#include "agent/block_tags.hpp"

#include <sodium.h>

namespace ckpt::redundancy
{

static_assert(crypto_onetimeauth_poly1305_BYTES == BlockTags::size);
static_assert(crypto_onetimeauth_poly1305_KEYBYTES ==
              std::tuple_size<MessageKey::Tag>::value);

BlockTags::Tag BlockTags::next(std::span<const std::byte> block)
{
    const MessageKey::Tag key =
        key_.tag({std::as_bytes(std::span(&number_, 1))});
    Tag tag;

    number_++;
    crypto_onetimeauth_poly1305(
        tag.data(), reinterpret_cast<const unsigned char *>(block.data()), block.size(),
        reinterpret_cast<const unsigned char *>(key.data()));
    return tag;
}

bool BlockTags::is_next(std::span<const std::byte> block, const Tag &tag)
{
    const Tag right = next(block);

    return sodium_memcmp(tag.data(), right.data(), right.size()) == 0;
}

} // namespace ckpt::redundancy
