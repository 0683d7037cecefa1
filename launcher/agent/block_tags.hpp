/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_tags.hpp - tags of the blocks of data that go over a connection between nodes.
 *
 * Poly1305, as the HMAC of messages is twenty times as slow: an authenticator whose key is
 * good for one message, so each block has a key of its own, that follows from the
 * connection's key and the block's number. A block is thus worth nothing in another place.
 */
#pragma once

#include "common/message_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct evp_mac_ctx_st; /* OpenSSL: EVP_MAC_CTX */

namespace ckpt::redundancy
{

/* Bytes of a block but for the last one of a range, without its tag: few enough to stay in
 * a processor's cache until they are sent. */
inline constexpr std::size_t block_bytes = 256u << 10;

/* What the purpose of a caller is, in the handshake. */
inline constexpr char block_purpose[] = "blocks";

class BlockTags
{
  public:
    static constexpr std::size_t size = 16; /* bytes */
    using Tag = std::array<unsigned char, size>;

    /* key: of the direction from the listener to the caller, derived for "blocks". Throws
     * Error, as the others do, if there is no Poly1305. */
    explicit BlockTags(const MessageKey &key);

    /* Of the next block: what its sender appends to it. */
    Tag next(std::span<const std::byte> block);
    /* Whether it is that of the next block. */
    bool is_next(std::span<const std::byte> block, const Tag &tag);

  private:
    struct Deleter {
        void operator()(evp_mac_ctx_st *context) const;
    };

    MessageKey key_;
    std::unique_ptr<evp_mac_ctx_st, Deleter> poly1305_;
    std::uint64_t number_ = 0;
};

} // namespace ckpt::redundancy
