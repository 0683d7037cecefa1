/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_pipeline.hpp - a few threads that read memory in chunks, drop chunks of zeros,
 * compress and checksum the others, and store them.
 *
 * The threads serve several ranks at once. They read first what a rank waits for, in
 * whatever order the ranks came.
 */
#pragma once

#include "image/memory/chunk_plan.hpp"
#include "image/memory/chunk_source.hpp"
#include "image/codec/codec.hpp"
#include "image/nodefile/encoded_chunk.hpp"

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

/* A chunk that is not all zero, in the form that the file has. */
struct StoredChunk {
    const ChunkJob &job;
    EncodedChunk encoded;
    std::span<std::byte> place; /* the chunk's bytes, followed by `room` bytes */
};

struct PipelineOptions {
    Codec codec;
    CodecChoice *choice;    /* for the codec "auto", else null */
    unsigned threads;       /* number of threads; one more is started that never stores */
    std::size_t chunk_size; /* bytes; no job is larger */
    const std::atomic<bool> *cancelled;
    /* Bytes to keep free behind each chunk for the storing function. If not 0, chunks get
     * no checksum yet. */
    std::size_t room = 0;
    /* Incremented by the bytes of memory that are done; may be null. */
    std::atomic<std::uint64_t> *saved = nullptr;
};

class ChunkPipeline
{
  public:
    using Store = std::function<void(const StoredChunk &)>;

    /* Whether the process is stopped until its memory has been read. */
    enum class Turn {
        standing,
        running
    };

    /* All objects that the options point to must outlive the pipeline. */
    explicit ChunkPipeline(const PipelineOptions &options);
    ~ChunkPipeline(); /* only when no run() is active */
    ChunkPipeline(const ChunkPipeline &) = delete;
    ChunkPipeline &operator=(const ChunkPipeline &) = delete;

    const PipelineOptions &options() const { return options_; }

    /*
     * Processes all jobs of the plan. First come the jobs that the application waits for,
     * then those of stopped processes, then the others in the order of their run() calls.
     * Calls `store` for each chunk to be stored, in any order, from several threads at a
     * time. Calls `captured` once, on the calling thread, as soon as the last byte has been
     * read. The memory used is bounded by the number of threads. Rethrows errors of the
     * source or of `store`, after all threads have stopped using the source. Thread-safe.
     */
    void run(ChunkSource &source, const ChunkPlan &plan, Turn turn, const Store &store,
             const std::function<void()> &captured);

    /* The number of active run() calls. Thread-safe. */
    std::size_t runs() const;

  private:
    struct Slot;
    struct Stream;
    struct Work {
        Stream *stream;
        Slot *slot;
        bool is_read; /* the chunk is read and is to be stored */
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

    mutable std::mutex mutex_;       /* guards the following members */
    std::condition_variable wakeup_; /* wakes the workers */
    std::list<Stream *> streams_;    /* stopped processes first; else by run() calls */
    std::deque<Slot> slots_;
    std::vector<Slot *> free_;               /* last in, first out: the buffers stay in the cache */
    std::array<std::size_t, 2> in_flight_{}; /* bytes, by Turn */
    unsigned storing_ = 0;                   /* number of workers that are storing */
    bool stopped_ = false;
    std::vector<std::jthread> workers_;
};

} // namespace ckpt
