/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_rate.hpp - how fast a file system takes the files of checkpoints, fsync
 * included.
 *
 * Thread-safe. One for the agent's successive checkpoints.
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
    /* Bytes per second; 0 as long as nothing was measured. */
    double value() const;

    /* Measures by some bytes that it writes to an empty file, and takes away again.
     * Returns errno. */
    int probe(int fd);
    /* The same with a file of its own, whose name does not stay. Not if there is little
     * room. */
    int probe_in(const std::filesystem::path &directory);

    /* Compares with direct writes, if there are any, in a file of that kind. */
    void try_direct_in(const std::filesystem::path &directory);
    /* Whether they were clearly faster. */
    bool is_direct_faster() const;

    /* A file of `bytes` took `seconds` from its first byte, of which `syncing` were
     * spent in the fsync at its end. */
    void note(std::uint64_t bytes, double seconds, double syncing);

  private:
    mutable std::mutex mutex_;
    double rate_ = 0;
    bool is_direct_faster_ = false;
};

} // namespace ckpt
