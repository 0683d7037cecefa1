/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_source.hpp - sources of a rank's chunks: a stopped process, a node file, or a copy
 * of the process's memory.
 */
#pragma once

#include "image/memory/chunk_plan.hpp"
#include "image/memory/frozen_copy.hpp"
#include "image/memory/remote_memory.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace ckpt
{

/* Thread-safe. */
class ChunkSource
{
  public:
    virtual ~ChunkSource() = default;

    /* Fills `chunk`, which has the job's size. Throws Error. */
    virtual void read(const ChunkPlan &plan, const ChunkJob &job,
                      std::span<std::byte> chunk) = 0;
    /* The pipeline will not read the job's chunk again. */
    virtual void release(const ChunkPlan &, const ChunkJob &) noexcept {}
    /* Returns the index of a job that the application waits for; a worker may be reading it
     * already. */
    virtual std::optional<std::size_t> urgent() const { return std::nullopt; }
    /* Returns the index of the job to continue with, because the process is writing near
     * it. */
    virtual std::size_t following() const { return 0; }
};

/* A process. If a frozen copy stands in for it, the copy's pages are released once they have
 * been read. */
class ProcessSource : public ChunkSource
{
  public:
    /* `memory` is that of the process or of the copy; it and the copy outlive this object.
     * `copy` may be null. */
    ProcessSource(const RemoteMemory &memory, const FrozenCopy *copy)
        : memory_(memory), copy_(copy)
    {
    }
    void read(const ChunkPlan &plan, const ChunkJob &job,
              std::span<std::byte> chunk) override;
    void release(const ChunkPlan &plan, const ChunkJob &job) noexcept override;

  private:
    const RemoteMemory &memory_;
    const FrozenCopy *copy_;
};

class NodeFileReader;

/* The memory of a rank in a node file. */
class ImageSource : public ChunkSource
{
  public:
    /* The reader outlives this object. */
    ImageSource(const NodeFileReader &reader, int rank)
        : reader_(reader), rank_(rank) {}
    void read(const ChunkPlan &plan, const ChunkJob &job,
              std::span<std::byte> chunk) override;

  private:
    const NodeFileReader &reader_;
    int rank_;
};

/* All chunks of a plan, copied into the agent's memory. */
class MemorySource : public ChunkSource
{
  public:
    /* Copies the chunks with `threads` threads, unless `cancelled`. The plan outlives the
     * result. Returns null if the machine has too little free memory, or if the kernel
     * refuses to commit it (a limit, or vm.overcommit_memory=2). Throws Error. */
    static std::unique_ptr<MemorySource> copy(const RemoteMemory &memory, const ChunkPlan &plan,
                                              unsigned threads,
                                              const std::atomic<bool> &cancelled);
    ~MemorySource() override;
    MemorySource(const MemorySource &) = delete;
    MemorySource &operator=(const MemorySource &) = delete;

    void read(const ChunkPlan &plan, const ChunkJob &job,
              std::span<std::byte> chunk) override;
    void release(const ChunkPlan &plan, const ChunkJob &job) noexcept override;

  private:
    MemorySource(const ChunkPlan &plan, std::byte *base, std::size_t size);
    void fill(const RemoteMemory &memory, const ChunkPlan &plan, unsigned threads,
              const std::atomic<bool> &cancelled);
    std::span<std::byte> place(const ChunkPlan &plan, const ChunkJob &job) const;

    std::byte *base_ = nullptr;
    std::size_t size_ = 0;
    std::vector<std::size_t> offsets_; /* by index of the job in the plan */
};

} // namespace ckpt
