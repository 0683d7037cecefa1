/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_file.hpp - a file that has its name when it is whole and on the disk.
 */
#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace ckpt::redundancy
{

class NewFile
{
  public:
    /* Under a temporary name of this process. Throws Error, as all functions do. */
    explicit NewFile(const std::filesystem::path &path);
    /* Nothing stays of it if it was not published. */
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    void write(std::span<const std::byte> bytes, std::uint64_t offset);
    /* So long it is: zeros where nothing has been written. */
    void set_size(std::uint64_t bytes);
    /* fsync, rename, fsync of the directory. */
    void publish();

  private:
    void check(int error) const;

    const std::filesystem::path path_, temporary_;
    Fd fd_; /* open as long as there is a temporary file */
};

} // namespace ckpt::redundancy
