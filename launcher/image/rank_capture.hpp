/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_capture.hpp - one stopped process on its way into a node file: what is read
 * while it stands still, and what is read when it goes on already (Plank 1993,
 * sections 3.1 to 3.3).
 *
 * | method | while it stands still             | afterwards            |
 * | ------ | --------------------------------- | --------------------- |
 * | stop   | all                               |                       |
 * | memory | all, into our memory              | that, into the file   |
 * | cow    | what it has in common with others | the rest, from a copy |
 * | cll    | the same                          | the rest, from itself |
 */
#pragma once

#include "image/chunk_pipeline.hpp"
#include "image/chunk_plan.hpp"
#include "image/chunk_source.hpp"
#include "image/page_pool.hpp"
#include "image/page_sharing.hpp"
#include "image/protected_source.hpp"
#include "image/rank_image.hpp"
#include "image/remote_memory.hpp"
#include "image/snapshot_method.hpp"
#include "image/stopped_process.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ckpt
{

class RankCapture
{
  public:
    using Store = ChunkPipeline::Store;

    /* Reads how the process describes itself. It is saved by the method that was
     * asked for, or, if that is not possible, with stop; remark() then says why. With cll
     * a process that has a copy and no protection is saved with cow.
     * is_partial: only what has changed is saved, if that is known. The pool, for cll,
     * and what finds pages that are there twice, if that is wanted, outlive this. Throws
     * Error. */
    RankCapture(const StoppedProcess &process, SnapshotMethod method,
                bool is_partial = false, PagePool *pool = nullptr,
                PageSharing *sharing = nullptr);

    RankImage &image() { return image_; }
    const std::string &remark() const { return remark_; }

    /*
     * Calls `store` for each chunk that is read while the process stands still, and
     * `captured` once, when it may go on. Afterwards finish() stores the others, and
     * may run on another thread. Both on the calling thread; both throw Error: process
     * gone, memory unreadable, cancelled, and what the callbacks throw.
     * threads: for what begin() does with the process itself.
     */
    void begin(ChunkPipeline &pipeline, unsigned threads, const Store &store,
               const std::function<void()> &captured);
    void finish(ChunkPipeline &pipeline, const Store &store);

    /* After finish(): regions saved by reference, rising; bytes that were read. */
    const std::vector<std::uint32_t> &by_reference() const { return by_reference_; }
    std::uint64_t bytes_read() const { return bytes_read_; }
    const FaultTimes &faults() const { return faults_; }

  private:
    void with_names(const std::function<void()> &action) const;
    void do_begin(ChunkPipeline &pipeline, unsigned threads, const Store &store,
                       const std::function<void()> &captured);
    void do_finish(ChunkPipeline &pipeline, const Store &store);
    const ChunkPlan &make_plan(std::uint64_t chunk_size, PlanPart part);
    void require_standing() const;
    void mark_changes();
    void run(ChunkPipeline &pipeline, ChunkSource &source, const ChunkPlan &plan,
             ChunkPipeline::Turn turn, const Store &store,
             const std::function<void()> &captured);
    void copy_to_memory(const PipelineOptions &options, unsigned threads);
    void protect(const PipelineOptions &options, unsigned threads);

    StoppedProcess process_;
    SnapshotMethod method_;
    std::string whose_;
    std::string remark_;
    RemoteMemory memory_; /* of the process, or of its copy */
    RankImage image_;
    bool is_partial_ = false; /* no more than what has changed is saved */
    ChunkPlan plan_; /* of what is being read */
    std::unique_ptr<MemorySource> source_;
    PagePool *pool_;
    PageSharing *sharing_;
    std::unique_ptr<ProtectedSource> protected_;
    FaultTimes faults_;
    std::vector<std::uint32_t> by_reference_;
    std::uint64_t bytes_read_ = 0;
};

} // namespace ckpt
