/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * saved_payloads.cpp - copies the saved bytes of descriptors out of a stopped process.
 */
#include "config.h"
#include "restart/saved_payloads.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

namespace ckpt::restart
{

SavedPayloads::SavedPayloads(const RankImage &image, const RemoteMemory &memory)
{
    for (const ckpt_file &file : image.files) {
        if (file.payload_size != 0 && !bytes_.contains(file.payload)) {
            bytes_.emplace(file.payload,
                           memory.read_array<std::byte>(file.payload, file.payload_size));
        }
    }
}

const void *SavedPayloads::find(std::uint64_t address, std::uint64_t size) const
{
    auto found = bytes_.upper_bound(address);
    if (found == bytes_.begin()) {
        return nullptr;
    }
    --found;
    const auto &[start, bytes] = *found;
    const std::uint64_t offset = address - start;
    CKPT_INVARIANT(start <= address);
    return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.data() + offset
                                                                   : nullptr;
}

void SavedPayloads::forget(std::uint64_t address)
{
    bytes_.erase(address);
}

} // namespace ckpt::restart
