/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served_file.hpp - a file of a checkpoint that other nodes may read, and nothing else.
 */
#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

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

    /* Which file it is, whatever its names. */
    struct Identity {
        dev_t device = 0;
        ino_t number = 0;
        std::uint64_t size = 0;
        bool operator==(const Identity &) const = default;
    };

    std::uint64_t size() const { return identity_.size; }
    const Identity &identity() const { return identity_; }
    /* As long as this object exists. */
    int descriptor() const { return fd_.get(); }
    /* All of `into` must be there. Throws Error. */
    void read(std::uint64_t offset, std::span<std::byte> into) const;

  private:
    std::string path_;
    Fd fd_;
    Identity identity_;
};

} // namespace ckpt::redundancy
