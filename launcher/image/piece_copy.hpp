/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_copy.hpp - copies a piece of a checkpoint into another directory, and is sure of
 * every byte of it.
 */
#pragma once

#include "image/manifest.hpp"
#include "image/write_limit.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace ckpt
{

class PieceCopy
{
  public:
    /* Of the checkpoint in the directory `from`, into `to`. write_limit: bytes per second;
     * 0: none. */
    PieceCopy(std::filesystem::path from, std::filesystem::path to, Piece piece,
              std::uint64_t write_limit)
        : from_(std::move(from)), to_(std::move(to)), piece_(std::move(piece)),
          limit_(write_limit)
    {
    }

    /* Makes `to` if need be. The file has its name there when it is on the disk, and when
     * each chunk and the tables have been compared with their checksums, and these with
     * that of the piece. Throws Error; then nothing is left of it. */
    void run();
    /* Makes run() throw soon. From any thread. */
    void cancel() { cancelled_ = true; }

  private:
    const std::filesystem::path from_, to_;
    const Piece piece_;
    WriteLimit limit_;
    std::atomic<bool> cancelled_ = false;
};

} // namespace ckpt
