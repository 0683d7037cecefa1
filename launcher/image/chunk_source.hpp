/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_source.hpp - where the bytes of a rank's chunks come from: a process that
 * stands still, or a copy of its memory.
 */
#pragma once

#include "image/chunk_plan.hpp"
#include "image/frozen_copy.hpp"
#include "image/remote_memory.hpp"

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

    /* Fills `chunk`, of the job's size. Throws Error. */
    virtual void read(const ChunkPlan &plan, const ChunkJob &job,
                      std::span<std::byte> chunk) = 0;
    /* The job's chunk will not be read again. */
    virtual void release(const ChunkPlan &, const ChunkJob &) noexcept {}
    /* The index of a job that somebody waits for; perhaps it is being read already. */
    virtual std::optional<std::size_t> urgent() const { return std::nullopt; }
    /* The index of the job with which to go on: the process writes there. */
    virtual std::size_t following() const { return 0; }
};

/* A process. With a copy in its place, pages that have been read are given back. */
class ProcessSource : public ChunkSource
{
  public:
    /* `memory` is the process's or the copy's; both outlive this. `copy` may be
     * null. */
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

/* A rank in a node file. */
class ImageSource : public ChunkSource
{
  public:
    /* The reader outlives this. */
    ImageSource(const NodeFileReader &reader, int rank) : reader_(reader), rank_(rank) {}
    void read(const ChunkPlan &plan, const ChunkJob &job,
              std::span<std::byte> chunk) override;

  private:
    const NodeFileReader &reader_;
    int rank_;
};

/* All chunks of a plan, copied into memory of our own. */
class MemorySource : public ChunkSource
{
  public:
    /* Copies them, by that many threads, unless `cancelled`. The plan outlives this. Null if
     * the machine has not memory for that and to spare, or the kernel does not promise it (a
     * limit, or vm.overcommit_memory=2). Throws Error. */
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
    std::vector<std::size_t> offsets_; /* by job of the plan */
};

} // namespace ckpt
