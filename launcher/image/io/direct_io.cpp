/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct_io.cpp - writes that bypass the kernel's page cache.
 */
#include "config.h"
#include "image/io/direct_io.hpp"

#include "common/invariant.hpp"

#include <fcntl.h>

#include <new>

namespace ckpt
{

AlignedBuffer make_aligned_buffer(std::size_t size)
{
    const std::size_t whole =
        (size + direct_alignment - 1) / direct_alignment * direct_alignment;
    AlignedBuffer buffer(
        static_cast<std::byte *>(std::aligned_alloc(direct_alignment, whole)));
    if (buffer == nullptr) {
        throw std::bad_alloc();
    }
    CKPT_INVARIANT(reinterpret_cast<std::uintptr_t>(buffer.get()) % direct_alignment == 0);
    return buffer;
}

Fd open_direct(const std::filesystem::path &path)
{
    return Fd(::open(path.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC));
}

std::size_t direct_part(std::span<const std::byte> chunk, std::uint64_t offset)
{
    if (chunk.size() < least_direct || offset % direct_alignment != 0 ||
        reinterpret_cast<std::uintptr_t>(chunk.data()) % direct_alignment != 0) {
        return 0;
    }
    return chunk.size() / direct_alignment * direct_alignment;
}

} // namespace ckpt
