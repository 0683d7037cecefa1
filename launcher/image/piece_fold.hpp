/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_fold.hpp - makes one file of a piece and those that it was made on top of, which
 * then are not needed for it any more.
 */
#pragma once

#include "image/manifest.hpp"
#include "image/node_file_writer.hpp"

#include <filesystem>
#include <memory>
#include <mutex>

namespace ckpt
{

class PieceFold
{
  public:
    /* Of the piece of this node in the checkpoint in `directory`; options: codec, threads
     * and limits of the file. */
    PieceFold(std::filesystem::path directory, std::uint64_t identity,
              const WriterOptions &options)
        : directory_(std::move(directory)), identity_(identity), options_(options)
    {
    }

    /* Writes the file, in the same directory. Throws Error; then nothing is left of it. */
    Piece run();
    /* Makes run() throw soon. From any thread. */
    void cancel();

  private:
    const std::filesystem::path directory_;
    const std::uint64_t identity_;
    WriterOptions options_;
    std::mutex mutex_; /* of what follows */
    bool cancelled_ = false;
    std::unique_ptr<NodeFileWriter> writer_;
};

/* Puts a folded piece in the place of what it was made of, if the checkpoint still has
 * that, and removes the file that is not needed any more. Throws Error. */
void replace_piece(const std::filesystem::path &directory, const Piece &folded);

} // namespace ckpt
