/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_seal.hpp - encrypts and authenticates the parts of one file: XChaCha20-Poly1305 with a
 * key per file.
 *
 * The file's key is derived from the user's key, a random salt and the name of the file's
 * owner. A part decrypts only with the same associated data (`about`) with which it was
 * sealed.
 */
#pragma once

#include "common/message_key.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ckpt
{

/* Thread-safe. */
class FileSeal
{
  public:
    static constexpr std::size_t nonce_size = 24;
    static constexpr std::size_t tag_size = 16;
    /* Bytes that sealing adds to a part: a random nonce and the tag. */
    static constexpr std::size_t overhead = nonce_size + tag_size;
    using Trailer = std::span<std::byte, overhead>;

    /* For a new file of `owner`, with a new salt. */
    FileSeal(const MessageKey &user_key, std::string_view owner);
    /* For an existing file; the salt is 64 hexadecimal digits. */
    FileSeal(const MessageKey &user_key, std::string_view owner, std::string salt);

    const std::string &salt() const { return salt_; }

    /* Encrypts `plain` to `sealed`, which has the same size and may be the same memory. Throws
     * Error. */
    void close(std::span<const std::byte> plain, std::span<std::byte> sealed, Trailer trailer,
               std::string_view about) const;
    /* Decrypts in place. Returns false, with `part` in an undefined state, unless the part,
     * trailer and `about` are authentic. */
    [[nodiscard]] bool open(std::span<std::byte> part,
                            std::span<const std::byte, overhead> trailer,
                            std::string_view about) const;

  private:
    const std::string salt_;
    const MessageKey key_;
};

} // namespace ckpt
