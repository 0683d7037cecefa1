/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_tags.hpp - tags of the data blocks on a connection between nodes.
 *
 * They are made with Poly1305, as the HMAC of messages is twenty times as slow. A Poly1305 key
 * authenticates one message only. So each block has its own key, derived from the connection's key
 * and the block's number. A block is therefore not valid at any other place.
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

/* Bytes of a block without its tag; the last block of a range may be shorter. A block stays in a
 * processor's cache until it is sent. */
inline constexpr std::size_t block_bytes = 256u << 10;

/* The purpose that a caller names in the handshake. */
inline constexpr char block_purpose[] = "blocks";

class BlockTags
{
  public:
    static constexpr std::size_t size = 16; /* bytes */
    using Tag = std::array<unsigned char, size>;

    /* key: of the direction from the listener to the caller, derived for "blocks". Throws Error
     * if OpenSSL has no Poly1305, as the other functions do. */
    explicit BlockTags(const MessageKey &key);

    /* Returns the tag of the next block, which the sender appends to the block. */
    Tag next(std::span<const std::byte> block);
    /* Returns whether `tag` is the tag of the next block. */
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
