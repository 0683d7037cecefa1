/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_capture.cpp - saves one stopped process into a node file.
 */
#include "config.h"
#include "image/write/rank_capture.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/memory/mapped_file.hpp"
#include "image/memory/sharing_source.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

/* Returns the mappings of which the plan reads any part. */
PageRanges mappings_of(const ChunkPlan &plan, const RankImage &image)
{
    PageRanges mappings;
    auto region = image.regions.begin();
    for (const ckpt_range &run : plan.runs) {
        while (region->end <= run.start) {
            ++region;
            CKPT_INVARIANT(region != image.regions.end());
        }
        if (mappings.empty() || mappings.back().end <= run.start) {
            mappings.push_back({region->start, region->end});
        }
    }
    return mappings;
}

} // namespace

RankCapture::RankCapture(const StoppedProcess &process, SnapshotMethod method,
                         bool is_partial, PagePool *pool, PageSharing *sharing)
    : process_(process), method_(method), whose_(fmt::format("process {}", process.pid)),
      memory_(process.pid),
      image_(read_description(memory_, process.snapshot, whose_)), pool_(pool),
      sharing_(sharing)
{
    is_partial_ = is_partial && process_.changes != nullptr;
    image_.is_packed = is_partial_ || has_many_regions(image_);
    if (method_ == SnapshotMethod::cll) {
        if (process_.protection != nullptr && pool_ != nullptr) {
            return;
        }
        method_ = SnapshotMethod::cow;
    }
    if (process_.copy != nullptr) {
        remark_ = process_.copy->missing(image_);
        if (remark_.empty()) {
            memory_ = RemoteMemory(process_.copy->pid(), RemoteMemory::ScanMethod::best,
                                   RemoteMemory::Reading::shared);
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

/* Throws unless the process is still stopped. The page map of an ended process
 * looks empty, but reading its memory fails. */
void RankCapture::require_standing() const
{
    require_unchanged(memory_, process_.snapshot, image_.snapshot, whose_);
}

const ChunkPlan &RankCapture::make_plan(std::uint64_t chunk_size, PlanPart part)
{
    plan_ = plan_chunks(memory_, image_, process_.pid, chunk_size, part,
                        is_partial_ ? process_.changes.get() : nullptr);
    find_ends_of_files(plan_, image_, process_.pid);
    require_standing();
    if (image_.is_packed && part != PlanPart::common) {
        image_.page_runs = plan_.page_runs;
        image_.pages.bytes = plan_.page_bytes;
    }
    if (!is_partial_ && process_.changes != nullptr && process_.changes->compares() &&
        part != PlanPart::common) {
        process_.changes->changed(memory_, data_of_packable(memory_, image_));
    }
    by_reference_.insert(by_reference_.end(), plan_.by_reference.begin(),
                         plan_.by_reference.end());
    for (const ckpt_range &run : plan_.runs) {
        bytes_read_ += run.end - run.start;
    }
    return plan_;
}

void RankCapture::copy_to_memory(const PipelineOptions &options, unsigned threads)
{
    make_plan(options.chunk_size, PlanPart::all);
    source_ = MemorySource::copy(memory_, plan_, threads, *options.cancelled);
    if (source_ == nullptr) {
        remark_ = "not enough memory for its copy";
        method_ = SnapshotMethod::stop;
    }
}

/* Protects all of the planned memory. If that fails, nothing is protected, and
 * the process is saved while it is stopped. */
void RankCapture::protect(const PipelineOptions &options, unsigned threads)
{
    CKPT_EXPECT(pool_ != nullptr && process_.protection != nullptr);
    make_plan(options.chunk_size, PlanPart::own);
    try {
        protected_ = std::make_unique<ProtectedSource>(
            process_.protection, memory_, plan_, mappings_of(plan_, image_), *pool_, threads);
    } catch (const Error &problem) {
        remark_ = problem.what();
        method_ = SnapshotMethod::stop;
        bytes_read_ = 0;
    }
}

/* Also for a full checkpoint, because the next one may save only the changes
 * since. */
void RankCapture::mark_changes()
{
    PageRanges ranges;
    for (const ckpt_region &region : image_.regions) {
        if (may_be_packed(region)) {
            ranges.push_back({region.start, region.end});
        }
    }
    process_.changes->mark(ranges, excluded_pages(image_));
}

/* Leaves out pages with content that is stored already. */
void RankCapture::run(ChunkPipeline &pipeline, ChunkSource &source, const ChunkPlan &plan,
                      ChunkPipeline::Turn turn, const Store &store,
                      const std::function<void()> &captured)
{
    if (sharing_ == nullptr) {
        pipeline.run(source, plan, turn, store, captured);
        return;
    }
    SharingSource sharing(source, *sharing_, image_.regions,
                          std::max(0, image_.snapshot.rank));
    pipeline.run(sharing, plan, turn, store, captured);
    const std::vector<SharedRun> shared = sharing.take_shared();
    image_.shared_runs.insert(image_.shared_runs.end(), shared.begin(), shared.end());
}

void RankCapture::begin(ChunkPipeline &pipeline, unsigned threads, const Store &store,
                        const std::function<void()> &captured)
{
    with_names([&] { do_begin(pipeline, threads, store, captured); });
}

void RankCapture::finish(ChunkPipeline &pipeline, const Store &store)
{
    with_names([&] { do_finish(pipeline, store); });
}

/* Adds the name of the region, which users know, to errors about unreadable
 * memory. */
void RankCapture::with_names(const std::function<void()> &action) const
{
    try {
        action();
    } catch (const UnreadableMemory &problem) {
        auto region = std::ranges::upper_bound(image_.regions, problem.address, {},
                                               &ckpt_region::end);
        if (region == image_.regions.end() || region->start > problem.address) {
            throw;
        }
        const char *name = image_.text(region->path);
        throw Error(fmt::format("memory {:x}-{:x} ({}) cannot be saved: {}", region->start,
                                region->end, *name != '\0' ? name : "no name",
                                problem.what()),
                    problem.code(), CKPT_REFUSAL_UNSAVABLE_MEMORY);
    }
}

void RankCapture::do_begin(ChunkPipeline &pipeline, unsigned threads, const Store &store,
                           const std::function<void()> &captured)
{
    const PipelineOptions &options = pipeline.options();
    if (process_.changes != nullptr) {
        mark_changes();
    }
    if (method_ == SnapshotMethod::memory) {
        copy_to_memory(options, threads);
    } else {
        if (method_ == SnapshotMethod::cll) {
            protect(options, threads);
        }
        make_plan(options.chunk_size, method_ == SnapshotMethod::stop
                                          ? PlanPart::all
                                          : PlanPart::common);
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
    run(pipeline, process, plan_, ChunkPipeline::Turn::standing, store, all_read);
}

void RankCapture::do_finish(ChunkPipeline &pipeline, const Store &store)
{
    CKPT_INVARIANT((method_ == SnapshotMethod::memory) == (source_ != nullptr));
    CKPT_INVARIANT((method_ == SnapshotMethod::cll) == (protected_ != nullptr));
    CKPT_INVARIANT(method_ != SnapshotMethod::cow || process_.copy != nullptr);
    const auto run_all = [&](ChunkSource &source, const ChunkPlan &plan) {
        run(pipeline, source, plan, ChunkPipeline::Turn::running, store, [] {});
    };
    if (source_ != nullptr) {
        run_all(*source_, plan_);
        source_.reset();
    } else if (protected_ != nullptr) {
        run_all(*protected_, protected_->plan());
        faults_ = protected_->faults();
        protected_.reset();
    } else if (method_ == SnapshotMethod::cow) {
        ProcessSource copy(memory_, process_.copy.get());
        run_all(copy, make_plan(pipeline.options().chunk_size, PlanPart::own));
        process_.copy.reset();
    }
}

} // namespace ckpt
