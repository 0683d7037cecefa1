/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_source.hpp - reads the files of a member, on this node or from the member's node.
 *
 * Only one thread at a time uses a source.
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

    /* Returns the length of a file in the checkpoint's directory. Throws Error, also if
     * the file does not exist. */
    virtual std::uint64_t size(const std::string &file) = 0;

    /* Reads the file from `offset` on; bytes beyond its end are zeros. Throws Error. */
    virtual void read(const std::string &file, std::uint64_t offset,
                      std::span<std::byte> into) = 0;

    /* Announces that the next reads cover this range sequentially. A remote source then
     * sends the data ahead of the requests. Several ranges are read in the order of their
     * announcements. */
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
    /* The descriptor stays open until another file is requested. */
    int descriptor_of(const std::string &file);

    const std::filesystem::path directory_;
    std::string open_name_; /* name of the file read last */
    Fd open_file_;
};

} // namespace ckpt::redundancy
