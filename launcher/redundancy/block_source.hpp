/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_source.hpp - where the files of a member are read: here, or on its node.
 *
 * A source is used by one thread at a time.
 */
#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace ckpt::redundancy
{

class BlockSource
{
  public:
    virtual ~BlockSource() = default;

    /* Length of a file in the checkpoint's directory. Throws Error, also if there is no
     * such file. */
    virtual std::uint64_t size(const std::string &file) = 0;

    /* What the file has from `offset` on; zeros beyond its end. Throws Error. */
    virtual void read(const std::string &file, std::uint64_t offset,
                      std::span<std::byte> into) = 0;

    /* The next reads will be of this range, from its beginning to its end, in parts: a
     * source that is far away sends it before it is asked for. Several ranges are read in
     * the order in which they were announced. */
    virtual void announce(const std::string &file, std::uint64_t offset,
                          std::uint64_t bytes);
};

/* Files in a directory of this node. */
class LocalSource : public BlockSource
{
  public:
    explicit LocalSource(std::filesystem::path directory)
        : directory_(std::move(directory))
    {
    }

    std::uint64_t size(const std::string &file) override;
    void read(const std::string &file, std::uint64_t offset,
              std::span<std::byte> into) override;

  private:
    /* Stays open until another one is asked for. */
    int descriptor_of(const std::string &file);

    const std::filesystem::path directory_;
    std::string open_name_; /* of the file that was read last */
    Fd open_file_;
};

} // namespace ckpt::redundancy
