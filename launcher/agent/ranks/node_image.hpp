/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_image.hpp - writes this node's piece of one checkpoint on the worker thread, all ranks at
 * once or rank by rank, and can be cancelled. Ranks that run again are finished on other threads,
 * so that stopped ranks do not wait for them. All of these are finished at the same time: the pages
 * that any of them waits for have to be read next.
 */
#pragma once

#include "agent/messages/node.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/memory/stopped_process.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ckpt
{

/* A stopped rank. */
struct StoppedRank {
    int rank;
    StoppedProcess process; /* pid -1: the process has gone */
};

/* Functions run on the worker thread, if not said otherwise. If one throws
 * Error, the caller must call give_up(). */
class NodeImage
{
  public:
    using Captured = std::function<void(int rank)>;

    /* logging: the ranks whose message logs abandon() removes. The objects that `options` points
     * to must outlive this. */
    NodeImage(std::string host, const WriterOptions &options,
              std::filesystem::path directory, std::vector<int> logging);
    ~NodeImage()
    {
        abandon();
    }

    const std::filesystem::path &directory() const { return directory_; }

    /* Writes the file. Calls captured(rank) from any thread when a rank may go on. */
    WrittenPiece write(const std::vector<StoppedRank> &ranks,
                       const Captured &captured);

    /*
     * Saves rank by rank. open() makes the file. add() saves a rank, and throws
     * if that rank cannot be saved alone. close() puts the message logs of
     * `logged` into the file and finishes it.
     */
    void open();
    void add(const StoppedRank &rank, const Captured &captured);
    WrittenPiece close(const std::vector<int> &logged);

    /* Bytes of memory that are in the file so far. May be called from any thread. */
    std::uint64_t saved() const { return saved_; }

    /* Makes the present and all later work fail soon. May be called from any thread. */
    void cancel();
    bool cancelled() const
    {
        return cancelled_;
    }

    /* Removes the file, unless it is finished. Afterwards only cancelled()
     * and abandon() are useful. */
    void give_up() noexcept;
    /* Does the same, and removes the ranks' message logs. */
    void abandon() noexcept;

  private:
    void begin_all(const std::vector<StoppedRank> &ranks, const Captured &captured);
    void begin(const StoppedRank &rank, const std::function<void()> &captured,
               unsigned threads = 0);
    void finish_later(int rank);
    void finish(int rank);
    void finish_all();
    void rethrow_failure();
    WrittenPiece commit();
    void end_writer() noexcept;

    const std::string host_;
    std::atomic<std::uint64_t> saved_{0};
    WriterOptions options_; /* without a base, if the base is gone */
    const std::filesystem::path directory_;
    std::vector<int> logging_;
    std::atomic<bool> cancelled_{false};
    std::mutex mutex_; /* protects the pointer to the writer */
    std::unique_ptr<NodeFileWriter> writer_;

    std::mutex finished_; /* protects the members below */
    int standing_ = 0;
    std::uint64_t memory_ = 0;
    FaultTimes faults_;
    std::exception_ptr failure_;          /* the first failure */
    std::vector<std::jthread> finishers_; /* last: they use the members above */
};

} // namespace ckpt
