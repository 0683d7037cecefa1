/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * saved_payloads.hpp - the saved bytes of the descriptors of a stopped process, from its memory.
 */
#pragma once

#include "image/memory/remote_memory.hpp"
#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ckpt::restart
{

class SavedPayloads
{
  public:
    /* Copies them. Throws Error if the process has ended. */
    SavedPayloads(const RankImage &image, const RemoteMemory &memory);

    /* Returns bytes of a payload; null unless all are in one. */
    const void *find(std::uint64_t address, std::uint64_t size) const;

    /* Returns the payload of the file as an array; without the incomplete end. */
    template <typename T>
    std::span<const T> array(const ckpt_file &file) const
    {
        const auto *bytes = static_cast<const T *>(find(file.payload, file.payload_size));
        return {bytes, bytes == nullptr ? 0 : file.payload_size / sizeof(T)};
    }

    /* Releases the bytes of a payload. */
    void forget(std::uint64_t address);

  private:
    std::map<std::uint64_t, std::vector<std::byte>> bytes_; /* by address */
};

} // namespace ckpt::restart
