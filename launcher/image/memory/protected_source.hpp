/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protected_source.hpp - memory of a process that runs while it is saved. The process may
 * write to a page once the page has been read, either for the file or into a pool of
 * copies (Plank 1993, section 3.3: concurrent, low-latency checkpointing).
 *
 * Each granule, some adjacent pages, is read once before the process may write to it. The
 * reader is the pipeline when it comes to the chunk, or the thread that serves faults,
 * whichever is first. If the pool is full, the process waits for the pipeline. If the
 * process unmaps or discards unsaved memory, that memory is lost and the checkpoint
 * fails.
 */
#pragma once

#include "common/error.hpp"
#include "common/fd.hpp"
#include "image/memory/chunk_plan.hpp"
#include "image/memory/chunk_source.hpp"
#include "image/model/fault_summary.hpp"
#include "image/memory/granule_map.hpp"
#include "image/memory/page_pool.hpp"
#include "image/memory/remote_memory.hpp"
#include "image/memory/write_protection.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ckpt
{

/* The process has unmapped or discarded memory that was not saved yet. */
class MemoryGivenBack : public Error
{
  public:
    using Error::Error;
};

class ProtectedSource : public ChunkSource
{
  public:
    /* Protects the memory in these mappings that the plan reads, with `threads` threads,
     * while the process is stopped. After this the process may resume. The memory and the
     * pool outlive this object. Throws Error; then nothing is protected. */
    ProtectedSource(std::shared_ptr<WriteProtection> protection,
                    const RemoteMemory &memory, ChunkPlan plan,
                    const PageRanges &mappings, PagePool &pool, unsigned threads);
    ~ProtectedSource() override;
    ProtectedSource(const ProtectedSource &) = delete;
    ProtectedSource &operator=(const ProtectedSource &) = delete;

    const ChunkPlan &plan() const { return plan_; }

    /* Reads each job once. Also throws MemoryGivenBack. */
    void read(const ChunkPlan &plan, const ChunkJob &job,
              std::span<std::byte> chunk) override;

    /* Returns the job of the first write that waits for the pool. */
    std::optional<std::size_t> urgent() const override;

    /* Returns the job of the last write that waited: most programs continue with the next
     * page. */
    std::size_t following() const override;

    /* Returns the times of the faults so far. */
    FaultTimes faults() const;

  private:
    using Clock = std::chrono::steady_clock;
    using Granule = GranuleMap::Index;

    enum class State : std::uint8_t {
        waiting, /* still protected, not read yet */
        reading, /* the pipeline is reading it */
        pooled,  /* copied into the pool */
        saved,
        lost,
    };
    struct Fault {
        std::uint64_t page;
        Clock::time_point since;
        bool waits_for_pool;
    };

    void protect(const PageRanges &mappings, unsigned threads) const;

    std::vector<Granule> claim(const ChunkJob &job, std::span<std::byte> chunk);
    void read_granules(const ChunkJob &job, std::span<const Granule> claimed,
                       std::span<std::byte> chunk) const;
    void settle(const ChunkJob &job, std::span<const Granule> claimed);
    bool allow(const PageRanges &pages) const;
    void require_kept(Granule granule) const;

    void serve_faults();
    void serve_until_end();
    void take_events();
    void lose(const ckpt_range &range);
    void serve_all();
    bool serve(Fault &fault);
    bool copy(Granule granule, std::byte *place) const;

    const std::shared_ptr<WriteProtection> protection_;
    const RemoteMemory &memory_;
    const ChunkPlan plan_;
    PagePool &pool_;
    const GranuleMap granules_;
    Fd wakeup_; /* eventfd that wakes the serving thread */

    mutable std::mutex mutex_;                        /* guards the following members */
    std::vector<State> states_;                       /* by granule */
    std::unordered_map<Granule, std::byte *> places_; /* buffers of pooled granules */
    std::vector<Fault> unserved_;
    std::size_t last_written_ = 0; /* index of a job */
    FaultTimes faults_;
    bool ends_ = false;
    std::thread server_; /* last: the thread uses the members above */
};

} // namespace ckpt
