/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input_file.hpp - what has come of a stream, so that it can be read again: in a file, and in
 * memory as long as that cannot be written. The program that reads the stream does not have to
 * wait for the file system, and never gets less than has come.
 */
#pragma once

#include "common/fd.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace ckpt::cli
{

class InputFile
{
  public:
    /* Of so many bytes in memory no more should be read ahead. */
    static constexpr std::uint64_t much_in_memory = 256u << 20;

    /* Makes the file, or empties it. Throws Error. */
    void open(const std::filesystem::path &path);
    bool is_open() const { return static_cast<bool>(file_); }

    /* Adds bytes at the end. Throws Error if neither the file nor the memory has room for them. */
    void append(std::span<const char> bytes);
    /* Exactly these bytes. Throws Error. */
    void read(std::span<char> bytes, std::uint64_t offset) const;
    /* Writes what is in memory into the file, as far as that can be done now. */
    void settle();

    std::uint64_t size() const { return size_; }
    std::uint64_t in_memory() const { return size_ - written_; }
    /* Why something is in memory. */
    const std::string &why() const { return why_; }

  private:
    bool write(std::span<const char> bytes);

    std::filesystem::path path_;
    Fd file_;
    Fd memory_;                 /* from memory_start_ on; none: all is in the file */
    std::uint64_t memory_start_ = 0;
    std::uint64_t written_ = 0; /* bytes in the file */
    std::uint64_t size_ = 0;    /* all bytes */
    std::string why_;
};

} // namespace ckpt::cli
