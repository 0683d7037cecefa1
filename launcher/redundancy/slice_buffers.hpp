/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slice_buffers.hpp - memory for a slice of each of several blocks, aligned as
 * redundancy/coder.hpp requires.
 */
#pragma once

#include "redundancy/parity_file.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace ckpt::redundancy
{

class SliceBuffers
{
  public:
    /* bytes: of each buffer, a multiple of 4096; less than a slice if only parts of
     * slices are processed */
    explicit SliceBuffers(std::size_t count, std::size_t bytes = slice_bytes)
        : bytes_(bytes),
          memory_(static_cast<std::byte *>(::operator new(count *bytes, alignment)))
    {
        for (std::size_t i = 0; i < count; i++) {
            pointers_.push_back(memory_.get() + i * bytes);
        }
    }

    std::span<std::byte> at(std::size_t i, std::uint64_t bytes)
    {
        return {memory_.get() + i * bytes_, bytes};
    }
    /* Returns pointers to the first `count` buffers. */
    std::span<const std::byte *const> pointers(std::size_t count) const
    {
        return std::span(pointers_).first(count);
    }

  private:
    static constexpr std::align_val_t alignment{4096};

    struct Deleter {
        void operator()(std::byte *memory) const { ::operator delete(memory, alignment); }
    };
    const std::size_t bytes_;
    std::unique_ptr<std::byte, Deleter> memory_;
    std::vector<const std::byte *> pointers_;
};

} // namespace ckpt::redundancy
