/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served_file.hpp - a file of a checkpoint that other nodes may read, and nothing else.
 */
#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace ckpt::redundancy
{

class ServedFile
{
  public:
    /* path: JOB/NUMBER/FILE below the root. Throws Error for any other path, for symbolic
     * links on the way, and for what is no regular file of ours. */
    ServedFile(const std::filesystem::path &root, const std::string &path);

    std::uint64_t size() const { return size_; }
    /* All of `into` must be there. Throws Error. */
    void read(std::uint64_t offset, std::span<std::byte> into) const;

  private:
    std::string path_;
    Fd fd_;
    std::uint64_t size_ = 0;
};

} // namespace ckpt::redundancy
