/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protected_source.hpp - memory of a process that goes on while it is saved: it may write
 * to a page when that has been read, for the file or into a pool of copies (Plank
 * 1993, section 3.3: concurrent, low-latency checkpointing).
 *
 * Each granule, some neighbouring pages, is read once before it may be written to: by
 * whoever is first, the pipeline that comes to its chunk, or the thread that serves
 * faults. If the pool is full the process waits for the pipeline. If memory that has not
 * been saved is given back, it is lost, and with it this checkpoint.
 */
#pragma once

#include "common/error.hpp"
#include "common/fd.hpp"
#include "image/chunk_plan.hpp"
#include "image/chunk_source.hpp"
#include "image/fault_summary.hpp"
#include "image/granule_map.hpp"
#include "image/page_pool.hpp"
#include "image/remote_memory.hpp"
#include "image/write_protection.hpp"

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

/* A process has given back memory that was not yet saved. */
class MemoryGivenBack : public Error
{
  public:
    using Error::Error;
};

class ProtectedSource : public ChunkSource
{
  public:
    /* Protects what the plan has to be read of these mappings, by that many threads,
     * while the process stands still; when this returns it may go on. The memory and the
     * pool outlive this. Throws Error: nothing is protected then. */
    ProtectedSource(std::shared_ptr<WriteProtection> protection,
                    const RemoteMemory &memory, ChunkPlan plan,
                    const PageRanges &mappings, PagePool &pool, unsigned threads);
    ~ProtectedSource() override;
    ProtectedSource(const ProtectedSource &) = delete;
    ProtectedSource &operator=(const ProtectedSource &) = delete;

    const ChunkPlan &plan() const { return plan_; }

    /* Each job once. Throws MemoryGivenBack, too. */
    void read(const ChunkPlan &plan, const ChunkJob &job,
              std::span<std::byte> chunk) override;

    /* That of the first write that waits for the pool. */
    std::optional<std::size_t> urgent() const override;

    /* That of the last write that waited: most programs go on to the next page. */
    std::size_t following() const override;

    /* So far. */
    FaultTimes faults() const;

  private:
    using Clock = std::chrono::steady_clock;
    using Granule = GranuleMap::Index;

    enum class State : std::uint8_t {
        waiting, /* to be read, and protected */
        reading, /* by the pipeline */
        pooled,  /* has been copied */
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
    Fd wakeup_; /* eventfd: of the serving thread */

    mutable std::mutex mutex_;  /* of what follows */
    std::vector<State> states_; /* by granule */
    std::unordered_map<Granule, std::byte *> places_; /* of what is pooled */
    std::vector<Fault> unserved_;
    std::size_t last_written_ = 0; /* job */
    FaultTimes faults_;
    bool ends_ = false;
    std::thread server_; /* last: starts when all else is there */
};

} // namespace ckpt
