/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_copy.hpp - copies a piece of a checkpoint into another directory, and verifies all
 * of its bytes.
 */
#pragma once

#include "image/store/manifest.hpp"
#include "image/io/write_limit.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace ckpt
{

class PieceCopy
{
  public:
    /* Copies `piece` of the checkpoint in the directory `from` to `to`. write_limit: bytes
     * per second; 0: no limit. */
    PieceCopy(std::filesystem::path from, std::filesystem::path to, Piece piece,
              std::uint64_t write_limit)
        : from_(std::move(from)), to_(std::move(to)), piece_(std::move(piece)),
          limit_(write_limit)
    {
    }

    /* Creates `to` if needed. The file gets its name after it is on the disk and verified:
     * chunks and tables by their checksums, and those by the piece's checksum. Throws
     * Error; then no file is left behind. */
    void run();
    /* Makes run() throw soon. Any thread may call it. */
    void cancel() { cancelled_ = true; }

  private:
    const std::filesystem::path from_, to_;
    const Piece piece_;
    WriteLimit limit_;
    std::atomic<bool> cancelled_ = false;
};

} // namespace ckpt
