/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_capture.hpp - saves one stopped process into a node file. The method determines
 * which memory is read while the process is stopped, and which after it has resumed
 * (Plank 1993, sections 3.1 to 3.3).
 *
 * | method | while it is stopped          | afterwards                   |
 * | ------ | ---------------------------- | ---------------------------- |
 * | stop   | all                          |                              |
 * | memory | all, into the agent's memory | that copy, into the file     |
 * | cow    | memory shared with others    | the rest, from a frozen copy |
 * | cll    | memory shared with others    | the rest, from the process   |
 */
#pragma once

#include "image/write/chunk_pipeline.hpp"
#include "image/memory/chunk_plan.hpp"
#include "image/memory/chunk_source.hpp"
#include "image/memory/page_pool.hpp"
#include "image/memory/page_sharing.hpp"
#include "image/memory/protected_source.hpp"
#include "image/model/rank_image.hpp"
#include "image/memory/remote_memory.hpp"
#include "image/model/snapshot_method.hpp"
#include "image/memory/stopped_process.hpp"

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

    /* Reads the description that the process has made. If the requested method is not
     * possible, the process is saved with "stop", and remark() tells why. With cll, a
     * process that has a frozen copy and no protection is saved with cow. is_partial:
     * only changed pages are saved, if they are known. `pool` is for cll; `sharing`, if
     * not null, finds duplicate pages. Both outlive this object. Throws Error. */
    RankCapture(const StoppedProcess &process, SnapshotMethod method,
                bool is_partial = false, PagePool *pool = nullptr,
                PageSharing *sharing = nullptr);

    RankImage &image() { return image_; }
    const std::string &remark() const { return remark_; }

    /*
     * begin() calls `store` for each chunk that is read while the process is stopped, and
     * `captured` once, when the process may resume. Then finish(), possibly on another
     * thread, stores the other chunks. The callbacks run on the calling thread. Both
     * functions throw Error: process ended, memory unreadable, cancelled, and whatever
     * the callbacks throw. threads: used by begin() for its own work on the process.
     */
    void begin(ChunkPipeline &pipeline, unsigned threads, const Store &store,
               const std::function<void()> &captured);
    void finish(ChunkPipeline &pipeline, const Store &store);

    /* After finish(): the regions saved by reference, ascending, and the number of bytes
     * read. */
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
    RemoteMemory memory_; /* of the process or of its frozen copy */
    RankImage image_;
    bool is_partial_ = false; /* save only changed pages */
    ChunkPlan plan_;          /* of the memory that is being read */
    std::unique_ptr<MemorySource> source_;
    PagePool *pool_;
    PageSharing *sharing_;
    std::unique_ptr<ProtectedSource> protected_;
    FaultTimes faults_;
    std::vector<std::uint32_t> by_reference_;
    std::uint64_t bytes_read_ = 0;
};

} // namespace ckpt
