/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_rate.hpp - measures how fast a file system takes checkpoint files, fsync
 * included.
 *
 * Thread-safe. An agent has one object for its successive checkpoints.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>

namespace ckpt
{

class WriteRate
{
  public:
    /* Bytes per second; 0 if nothing was measured yet. */
    double value() const;

    /* Measures by writing some bytes to an empty file; truncates it afterwards. Returns
     * an errno or 0. */
    int probe(int fd);
    /* The same with a temporary file in `directory`. Does nothing if there is little
     * free space. */
    int probe_in(const std::filesystem::path &directory);

    /* Compares with direct writes, if supported, in a temporary file. */
    void try_direct_in(const std::filesystem::path &directory);
    /* Whether direct writes were clearly faster. */
    bool is_direct_faster() const;

    /* Records that a file of `bytes` took `seconds` from its first byte, including
     * `syncing` seconds for the final fsync. */
    void note(std::uint64_t bytes, double seconds, double syncing);

  private:
    mutable std::mutex mutex_;
    double rate_ = 0;
    bool is_direct_faster_ = false;
};

} // namespace ckpt
