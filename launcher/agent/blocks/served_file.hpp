/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served_file.hpp - opens a file that other nodes may read: a file of a checkpoint, and no other
 * file.
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
    /* path: JOB/NUMBER/FILE below the root. Throws Error for any other path, for symbolic links
     * on the way, and for anything except this user's regular files. */
    ServedFile(const std::filesystem::path &root, const std::string &path);

    /* Identifies the file, whatever its names. */
    struct Identity {
        dev_t device = 0;
        ino_t number = 0;
        std::uint64_t size = 0;
        bool operator==(const Identity &) const = default;
    };

    std::uint64_t size() const { return identity_.size; }
    const Identity &identity() const { return identity_; }
    /* Valid as long as this object exists. */
    int descriptor() const { return fd_.get(); }
    /* Reads exactly `into`.size() bytes. Throws Error if there are fewer. */
    void read(std::uint64_t offset, std::span<std::byte> into) const;

  private:
    std::string path_;
    Fd fd_;
    Identity identity_;
};

} // namespace ckpt::redundancy
