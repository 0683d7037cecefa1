/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_tags.cpp - one-time keys, and Poly1305 from OpenSSL. OpenSSL uses wide vector units and is
 * three to four times as fast as libsodium.
 */
#include "agent/blocks/block_tags.hpp"

#include "common/error.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace ckpt::redundancy
{

namespace
{

/* A library context of our own has OpenSSL's default algorithms, independently of the machine's
 * openssl.cnf, so all nodes compute the same tags. It lives as long as the process. */
OSSL_LIB_CTX *library()
{
    static OSSL_LIB_CTX *const context = OSSL_LIB_CTX_new();

    return context;
}

EVP_MAC_CTX *new_poly1305()
{
    EVP_MAC *const algorithm = EVP_MAC_fetch(library(), OSSL_MAC_NAME_POLY1305, nullptr);
    EVP_MAC_CTX *const context = EVP_MAC_CTX_new(algorithm); /* accepts null and returns null */

    EVP_MAC_free(algorithm); /* the context holds its own reference */
    if (context == nullptr) {
        fail("OpenSSL has no Poly1305");
    }
    return context;
}

} // namespace

void BlockTags::Deleter::operator()(evp_mac_ctx_st *context) const
{
    EVP_MAC_CTX_free(context);
}

BlockTags::BlockTags(const MessageKey &key)
    : key_(key), poly1305_(new_poly1305())
{
}

BlockTags::Tag BlockTags::next(std::span<const std::byte> block)
{
    static_assert(std::tuple_size_v<MessageKey::Tag> == 32); /* Poly1305 takes such keys */
    const MessageKey::Tag key =
        key_.tag({std::as_bytes(std::span(&number_, 1))});
    Tag tag;
    std::size_t length = 0;

    number_++;
    if (EVP_MAC_init(poly1305_.get(), reinterpret_cast<const unsigned char *>(key.data()),
                     key.size(), nullptr) != 1 ||
        EVP_MAC_update(poly1305_.get(),
                       reinterpret_cast<const unsigned char *>(block.data()),
                       block.size()) != 1 ||
        EVP_MAC_final(poly1305_.get(), tag.data(), &length, tag.size()) != 1 ||
        length != tag.size()) {
        fail("OpenSSL's Poly1305 does not work");
    }
    return tag;
}

bool BlockTags::is_next(std::span<const std::byte> block, const Tag &tag)
{
    const Tag right = next(block);

    return CRYPTO_memcmp(tag.data(), right.data(), right.size()) == 0;
}

} // namespace ckpt::redundancy
