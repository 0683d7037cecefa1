/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bytes.hpp - tests on ranges of memory.
 */
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace ckpt
{

inline bool is_all_zero(std::span<const std::byte> bytes)
{
    /* If the first byte is zero and each byte equals the one before, all are
     * zero. memcmp does that comparison at the speed of memory. */
    return bytes.empty() ||
           (bytes[0] == std::byte{0} &&
            std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

} // namespace ckpt
