/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_fold.hpp - merges a piece and the pieces on which it builds into one file, so that
 * it no longer needs them.
 */
#pragma once

#include "image/store/manifest.hpp"
#include "image/write/node_file_writer.hpp"

#include <filesystem>
#include <memory>
#include <mutex>

namespace ckpt
{

class PieceFold
{
  public:
    /* For this node's piece of the checkpoint in `directory`. options: codec, threads and
     * limits for the new file. */
    PieceFold(std::filesystem::path directory, std::uint64_t identity,
              const WriterOptions &options)
        : directory_(std::move(directory)), identity_(identity), options_(options)
    {
    }

    /* Writes the file to the same directory. Throws Error; then no file is left behind. */
    Piece run();
    /* Makes run() throw soon. Any thread may call it. */
    void cancel();

  private:
    const std::filesystem::path directory_;
    const std::uint64_t identity_;
    WriterOptions options_;
    std::mutex mutex_; /* guards the following members */
    bool cancelled_ = false;
    std::unique_ptr<NodeFileWriter> writer_;
};

/* Replaces the original piece in the manifest by the folded piece, if the manifest still
 * has the original, and removes the file that is no longer needed. Throws Error. */
void replace_piece(const std::filesystem::path &directory, const Piece &folded);

} // namespace ckpt
