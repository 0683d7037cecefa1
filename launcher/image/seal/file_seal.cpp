/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_seal.cpp - XChaCha20-Poly1305 with libsodium and OpenSSL.
 *
 * The output equals that of libsodium's crypto_aead_xchacha20poly1305_ietf. HChaCha20 derives
 * a key for the part from the first 16 bytes of its nonce; RFC 8439 encrypts with that key
 * and the other 8 bytes. OpenSSL does the second step, because its code for wide vector units
 * is three times as fast.
 */
#include "config.h"
#include "image/seal/file_seal.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <utility>

namespace ckpt
{

namespace
{

static_assert(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES == FileSeal::nonce_size);
static_assert(crypto_aead_xchacha20poly1305_ietf_ABYTES == FileSeal::tag_size);
static_assert(crypto_core_hchacha20_KEYBYTES == MessageKey::size);
static_assert(crypto_core_hchacha20_INPUTBYTES + 8 == FileSeal::nonce_size);
static_assert(FileSeal::overhead == FileSeal::nonce_size + FileSeal::tag_size);

struct ContextDeleter {
    void operator()(EVP_CIPHER_CTX *context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, ContextDeleter>;

struct CipherDeleter {
    void operator()(EVP_CIPHER *cipher) const { EVP_CIPHER_free(cipher); }
};

void require(bool worked)
{
    if (!worked) {
        fail("OpenSSL does not do ChaCha20-Poly1305");
    }
}

/* Cached, because looking up the cipher takes longer than encrypting a page. */
const EVP_CIPHER *cipher()
{
    static const std::unique_ptr<EVP_CIPHER, CipherDeleter> found(
        EVP_CIPHER_fetch(nullptr, "ChaCha20-Poly1305", nullptr));
    require(found != nullptr);
    return found.get();
}

unsigned char *writable(std::span<std::byte> part)
{
    return reinterpret_cast<unsigned char *>(part.data());
}

const unsigned char *bytes_of(std::span<const std::byte> part)
{
    return reinterpret_cast<const unsigned char *>(part.data());
}

int length_of(std::size_t size)
{
    require(size <= INT_MAX);
    return static_cast<int>(size);
}

/* Prepares a context for the part with this nonce, after authenticating `about`. */
EVP_CIPHER_CTX *begin(const MessageKey &key, const unsigned char *nonce, std::string_view about,
                      bool encrypts)
{
    thread_local const Context context(EVP_CIPHER_CTX_new());
    unsigned char part_key[crypto_core_hchacha20_OUTPUTBYTES];
    unsigned char rest[12] = {}; /* RFC 8439 nonces have 12 bytes */
    int length = 0;

    require(context != nullptr);
    std::copy_n(nonce + crypto_core_hchacha20_INPUTBYTES, 8, rest + 4);
    require(crypto_core_hchacha20(part_key, nonce, key.bytes().data(), nullptr) == 0);
    const bool begun =
        EVP_CipherInit_ex(context.get(), cipher(), nullptr, part_key, rest, encrypts) == 1;
    sodium_memzero(part_key, sizeof part_key);
    require(begun);
    require(EVP_CipherUpdate(context.get(), nullptr, &length,
                             reinterpret_cast<const unsigned char *>(about.data()),
                             length_of(about.size())) == 1);
    return context.get();
}

std::string new_salt()
{
    return MessageKey::make().text();
}

MessageKey key_of_file(const MessageKey &user_key, std::string_view owner,
                       std::string_view salt)
{
    return user_key.derive(fmt::format("ckpt file {} {}", salt, owner));
}

} // namespace

FileSeal::FileSeal(const MessageKey &user_key, std::string_view owner)
    : FileSeal(user_key, owner, new_salt())
{
}

FileSeal::FileSeal(const MessageKey &user_key, std::string_view owner, std::string salt)
    : salt_(std::move(salt)), key_(key_of_file(user_key, owner, salt_))
{
}

void FileSeal::close(std::span<const std::byte> plain, std::span<std::byte> sealed,
                     Trailer trailer, std::string_view about) const
{
    CKPT_EXPECT(sealed.size() == plain.size());
    unsigned char *nonce = writable(trailer);
    int length = 0;

    randombytes_buf(nonce, nonce_size);
    EVP_CIPHER_CTX *context = begin(key_, nonce, about, true);
    require(EVP_CipherUpdate(context, writable(sealed), &length, bytes_of(plain),
                             length_of(plain.size())) == 1);
    require(length == length_of(plain.size()));
    require(EVP_CipherFinal_ex(context, nonce + nonce_size, &length) == 1 && length == 0);
    require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size,
                                nonce + nonce_size) == 1);
}

bool FileSeal::open(std::span<std::byte> part, std::span<const std::byte, overhead> trailer,
                    std::string_view about) const
{
    const unsigned char *nonce = bytes_of(trailer);
    unsigned char tag[tag_size], none[tag_size];
    int length = 0;

    std::copy_n(nonce + nonce_size, tag_size, tag);
    EVP_CIPHER_CTX *context = begin(key_, nonce, about, false);
    require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_size, tag) == 1);
    require(EVP_CipherUpdate(context, writable(part), &length, bytes_of(part),
                             length_of(part.size())) == 1);
    return EVP_CipherFinal_ex(context, none, &length) == 1;
}

} // namespace ckpt
