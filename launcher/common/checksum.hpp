/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum.hpp - XXH3-64 of bytes that arrive in parts, or of a part of a file.
 */
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ckpt
{

inline std::uint64_t checksum_of(std::span<const std::byte> bytes)
{
    return XXH3_64bits(bytes.data(), bytes.size());
}

class Checksum
{
  public:
    Checksum();
    void add(std::span<const std::byte> bytes);
    /* Adds the bytes [from, to) of a file. Returns 0 or an errno. */
    int add_file(int fd, std::uint64_t from, std::uint64_t to);
    std::uint64_t value() const;

  private:
    struct Deleter {
        void operator()(XXH3_state_t *state) const { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, Deleter> state_;
    std::unique_ptr<std::byte[]> buffer_; /* allocated for the first file */
};

} // namespace ckpt
