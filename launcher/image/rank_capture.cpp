/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_capture.cpp - one stopped process on its way into a node file.
 */
#include "config.h"
#include "image/rank_capture.hpp"

#include "common/error.hpp"

namespace ckpt
{

RankCapture::RankCapture(const StoppedProcess &process, SnapshotMethod method)
    : process_(process), method_(method), whose_(fmt::format("process {}", process.pid)),
      memory_(process.pid),
      image_(read_description(memory_, process.snapshot, whose_))
{
    if (process_.copy != nullptr) {
        remark_ = process_.copy->missing(image_);
        if (remark_.empty()) {
            memory_ = RemoteMemory(process_.copy->pid());
            return;
        }
        process_.copy.reset();
    } else {
        remark_ = process.why_no_copy;
    }
    if (method_ == SnapshotMethod::cow) {
        method_ = SnapshotMethod::stop;
    }
}

/* Reading fails if the process has ended, but its page map would look empty. */
void RankCapture::require_standing() const
{
    require_unchanged(memory_, process_.snapshot, image_.snapshot, whose_);
}

const ChunkPlan &RankCapture::make_plan(std::uint64_t chunk_size, PlanPart part)
{
    plan_ = plan_chunks(memory_, image_, chunk_size, part);
    require_standing();
    by_reference_.insert(by_reference_.end(), plan_.by_reference.begin(),
                         plan_.by_reference.end());
    for (const ckpt_range &run : plan_.runs) {
        bytes_read_ += run.end - run.start;
    }
    return plan_;
}

void RankCapture::copy_to_memory(std::uint64_t chunk_size,
                                 const PipelineOptions &options)
{
    make_plan(chunk_size, PlanPart::all);
    if (MemorySource::has_room(plan_)) {
        source_ = std::make_unique<MemorySource>(memory_, plan_, options.threads,
                                                 *options.cancelled);
    } else {
        remark_ = "there is not enough memory for a copy of it";
        method_ = SnapshotMethod::stop;
    }
}

void RankCapture::begin(std::uint64_t chunk_size, const PipelineOptions &options,
                        const Store &store, const std::function<void()> &captured)
{
    if (method_ == SnapshotMethod::memory) {
        copy_to_memory(chunk_size, options);
    } else {
        bool has_copy = method_ == SnapshotMethod::cow;
        make_plan(chunk_size, has_copy ? PlanPart::common : PlanPart::all);
    }
    auto all_read = [&] {
        require_standing();
        captured();
    };
    if (source_ != nullptr) {
        all_read();
        return;
    }
    ProcessSource process(memory_, nullptr);
    run_chunk_pipeline(process, plan_, options, store, all_read);
}

void RankCapture::finish(std::uint64_t chunk_size, const PipelineOptions &options,
                         const Store &store)
{
    if (source_ != nullptr) {
        run_chunk_pipeline(*source_, plan_, options, store, [] {});
        source_.reset();
    } else if (method_ == SnapshotMethod::cow) {
        ProcessSource copy(memory_, process_.copy.get());
        run_chunk_pipeline(copy, make_plan(chunk_size, PlanPart::own), options, store,
                           [] {});
        process_.copy.reset();
    }
}

} // namespace ckpt
