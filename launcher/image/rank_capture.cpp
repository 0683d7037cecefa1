/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_capture.cpp - one stopped process on its way into a node file.
 */
#include "config.h"
#include "image/rank_capture.hpp"

#include "common/error.hpp"

namespace ckpt
{

RankCapture::RankCapture(const StoppedProcess &process, SnapshotMethod method,
                         bool is_partial)
    : process_(process), method_(method), whose_(fmt::format("process {}", process.pid)),
      memory_(process.pid),
      image_(read_description(memory_, process.snapshot, whose_))
{
    image_.is_partial = is_partial && process_.changes != nullptr;
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
    plan_ = plan_chunks(memory_, image_, chunk_size, part,
                        image_.is_partial ? process_.changes.get() : nullptr);
    require_standing();
    if (image_.is_partial && part != PlanPart::common) {
        image_.page_runs = plan_.page_runs;
        image_.pages.bytes = plan_.page_bytes;
    } else if (process_.changes != nullptr && part != PlanPart::common) {
        /* All is saved: the next one will be compared with that. */
        process_.changes->changed(memory_, data_of_partial(memory_, image_));
    }
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

/* Also if all is saved: the next one may save what has changed since. */
void RankCapture::mark_changes()
{
    PageRanges ranges;
    for (const ckpt_region &region : image_.regions) {
        if (may_be_partial(region)) {
            ranges.push_back({region.start, region.end});
        }
    }
    process_.changes->mark(ranges, excluded_pages(image_));
}

void RankCapture::begin(std::uint64_t chunk_size, const PipelineOptions &options,
                        const Store &store, const std::function<void()> &captured)
{
    if (process_.changes != nullptr) {
        mark_changes();
    }
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
