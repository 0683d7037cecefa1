/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input_file.hpp - keeps the received data of a stream, so that it can be read again: in a
 * file, and in memory while the file cannot be written. So the reader of the stream never waits
 * for the file system, and never gets less than was received.
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
    /* Callers should not read ahead while this many bytes are in memory. */
    static constexpr std::uint64_t much_in_memory = 256u << 20;

    /* Creates or truncates the file. Throws Error. */
    void open(const std::filesystem::path &path);
    bool is_open() const { return static_cast<bool>(file_); }

    /* Appends bytes. Throws Error if both the file system and the memory lack space. */
    void append(std::span<const char> bytes);
    /* Reads exactly `bytes.size()` bytes at `offset`. Throws Error. */
    void read(std::span<char> bytes, std::uint64_t offset) const;
    /* Moves data from memory to the file, as far as possible now. */
    void settle();

    std::uint64_t size() const { return size_; }
    std::uint64_t in_memory() const { return size_ - written_; }
    /* Returns why data is in memory. */
    const std::string &why() const { return why_; }

  private:
    bool write(std::span<const char> bytes);

    std::filesystem::path path_;
    Fd file_;
    /* A memfd with the data from memory_start_ on; invalid: all data is in the file. */
    Fd memory_;
    std::uint64_t memory_start_ = 0;
    std::uint64_t written_ = 0; /* bytes in the file */
    std::uint64_t size_ = 0;    /* total bytes received */
    std::string why_;
};

} // namespace ckpt::cli
