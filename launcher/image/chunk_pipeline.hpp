/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_pipeline.hpp - a few threads that read memory in chunks, drop chunks of
 * zeros, compress and checksum the others, and store them.
 *
 * They serve several ranks at once, so that what a rank waits for is read next, whoever's
 * turn it is.
 */
#pragma once

#include "image/chunk_plan.hpp"
#include "image/chunk_source.hpp"
#include "image/codec.hpp"
#include "image/encoded_chunk.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace ckpt
{

/* A chunk that is not all zero, as it goes to the file. */
struct StoredChunk {
    const ChunkJob &job;
    EncodedChunk encoded;
    std::span<std::byte> place; /* its bytes, and the room behind them */
};

struct PipelineOptions {
    Codec codec;
    CodecChoice *choice; /* of the codec auto, else null */
    unsigned threads; /* and one more that never stores */
    std::size_t chunk_size; /* bytes; no job is larger */
    const std::atomic<bool> *cancelled;
    /* Bytes behind each chunk, for who stores it; then it has no checksum yet. */
    std::size_t room = 0;
    std::atomic<std::uint64_t> *saved = nullptr; /* counts bytes of memory that are done */
};

class ChunkPipeline
{
  public:
    using Store = std::function<void(const StoredChunk &)>;

    /* Whether a process stands still until its memory has been read. */
    enum class Turn { standing, running };

    /* What the options point to outlives this. */
    explicit ChunkPipeline(const PipelineOptions &options);
    ~ChunkPipeline(); /* when no run() is under way */
    ChunkPipeline(const ChunkPipeline &) = delete;
    ChunkPipeline &operator=(const ChunkPipeline &) = delete;

    const PipelineOptions &options() const { return options_; }

    /*
     * Does all jobs of the plan: those that somebody waits for first, then those of
     * processes that stand still, then of who has come first. `store` is called for each
     * chunk to be stored, in any order, by several threads at a time; and `captured` once,
     * on the calling thread, as soon as the last byte has been read. Memory used is bounded
     * by the number of threads. Throws what a reader or `store` threw, when no thread uses
     * the source any more. Thread-safe.
     */
    void run(ChunkSource &source, const ChunkPlan &plan, Turn turn, const Store &store,
             const std::function<void()> &captured);

    /* How many run() are under way. Thread-safe. */
    std::size_t runs() const;

  private:
    struct Slot;
    struct Stream;
    struct Work {
        Stream *stream;
        Slot *slot;
        bool is_read; /* and is to be stored */
    };

    void start();
    void work();
    std::optional<Work> take_work();
    std::optional<Work> next_work();
    std::optional<Work> next_read(std::optional<std::size_t> (Stream::*which)(),
                                  Turn last);
    std::optional<Work> next_store();
    std::optional<Work> take(Stream &stream, std::size_t job);
    void do_work(const Work &work, std::optional<Compressor> &compressor);
    void read_chunk(const Work &work) const;
    void note_done(const Work &work, const std::exception_ptr &failure);
    void free_slot(Stream &stream, Slot *slot);
    void wait_for(Stream &stream, const std::function<void()> &captured);
    void leave(Stream &stream);

    const PipelineOptions options_;
    const std::size_t budget_; /* bytes */

    mutable std::mutex mutex_; /* of what follows */
    std::condition_variable wakeup_; /* of the workers */
    std::list<Stream *> streams_; /* standing first; in the order in which they came */
    std::deque<Slot> slots_;
    std::vector<Slot *> free_; /* last in, first out: stays in the cache */
    std::array<std::size_t, 2> in_flight_{}; /* bytes, by turn */
    unsigned storing_ = 0; /* workers */
    bool stopped_ = false;
    std::vector<std::jthread> workers_;
};

} // namespace ckpt
