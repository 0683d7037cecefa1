/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum.cpp - XXH3-64 in parts.
 */
#include "config.h"
#include "common/checksum.hpp"

#include "common/files/files.hpp"

#include <algorithm>
#include <new>

namespace ckpt
{

namespace
{

constexpr std::size_t buffer_size = 256u << 10;

} // namespace

Checksum::Checksum()
    : state_(XXH3_createState())
{
    if (!state_) {
        throw std::bad_alloc();
    }
    XXH3_64bits_reset(state_.get());
}

void Checksum::add(std::span<const std::byte> bytes)
{
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

int Checksum::add_file(int fd, std::uint64_t from, std::uint64_t to)
{
    if (!buffer_) {
        buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_size);
    }
    while (from < to) {
        std::size_t part = std::min<std::uint64_t>(buffer_size, to - from);
        int error = read_exactly(fd, buffer_.get(), part, from);
        if (error != 0) {
            return error;
        }
        add({buffer_.get(), part});
        from += part;
    }
    return 0;
}

std::uint64_t Checksum::value() const
{
    return XXH3_64bits_digest(state_.get());
}

} // namespace ckpt
