/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_image.hpp - writes this node's piece of one checkpoint on the worker
 * thread, all ranks at once or rank by rank, and can be told to stop.
 */
#pragma once

#include "image/file_identity.hpp"
#include "image/node_file_writer.hpp"

#include <sys/types.h>

#include <atomic>
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

/* On the worker thread, if not said otherwise. What throws Error has to be
 * followed by give_up(). */
class NodeImage
{
  public:
    using Captured = std::function<void(int rank)>;

    struct Outcome {
        Piece piece;
        std::uint64_t memory = 0; /* bytes mapped by the ranks */
    };

    /* logging: the ranks whose message logs abandon() removes; identities: of
     * the agent's successive checkpoints, must outlive this. */
    NodeImage(std::string host, Codec codec, std::filesystem::path directory,
              std::vector<int> logging, FileIdentities &identities);
    ~NodeImage()
    {
        abandon();
    }

    /* Writes the file; captured(rank) is called when a rank's memory is no
     * longer needed. */
    Outcome write(const std::vector<StoppedRank> &ranks,
                  const Captured &captured);

    /*
     * The same rank by rank. open() makes the file; add() saves a rank, and
     * throws if it cannot be saved alone; close() puts the message logs of
     * `logged` into the file and finishes it.
     */
    void open();
    void add(const StoppedRank &rank, const Captured &captured);
    Outcome close(const std::vector<int> &logged);

    /* Makes what is under way, or yet to come, fail soon. From any thread. */
    void cancel();
    bool cancelled() const
    {
        return cancelled_;
    }

    /* Removes the file, unless it is finished. Nothing but cancelled() and
     * abandon() is useful then. */
    void give_up() noexcept;
    /* Removes the ranks' message logs, too. */
    void abandon() noexcept;

  private:
    void save(const StoppedRank &rank, const std::function<void()> &captured);
    Outcome finish();

    const std::string host_;
    const Codec codec_;
    const std::filesystem::path directory_;
    FileIdentities &identities_;
    std::vector<int> logging_;
    std::uint64_t memory_ = 0;
    std::atomic<bool> cancelled_{false};
    std::mutex mutex_; /* of the pointer to the writer */
    std::unique_ptr<NodeFileWriter> writer_;
};

} // namespace ckpt
