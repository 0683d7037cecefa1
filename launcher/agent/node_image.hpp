/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_image.hpp - writes this node's piece of a checkpoint on the worker
 * thread, and can be told to stop.
 */
#pragma once

#include "image/file_identity.hpp"
#include "image/node_file_writer.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ckpt
{

/* A stopped rank. */
struct StoppedRank {
    int rank;
    pid_t pid;
    std::uint64_t snapshot; /* address of its ckpt_snapshot */
};

class NodeImage
{
  public:
    struct Outcome {
        Piece piece;
        std::uint64_t memory = 0; /* bytes mapped by the ranks */
    };

    NodeImage(std::string host, Codec codec)
        : host_(std::move(host)), codec_(codec)
    {
    }

    /* Forgets an earlier cancel(). On the event loop's thread. */
    void prepare();

    /* Writes the file; captured(rank) is called when a rank's memory is no
     * longer needed. Throws Error, and then nothing is left behind. On the
     * worker thread. */
    Outcome write(const std::filesystem::path &directory,
                  const std::vector<StoppedRank> &ranks,
                  const std::function<void(int)> &captured);

    /* Makes a write() under way, or yet to come, fail soon. From any thread. */
    void cancel();

  private:
    void open(const std::filesystem::path &directory);
    void close();

    const std::string host_;
    const Codec codec_;
    FileIdentities identities_;
    std::mutex mutex_; /* of the two below */
    std::unique_ptr<NodeFileWriter> writer_;
    bool cancelled_ = false;
};

} // namespace ckpt
