/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_plan.cpp - decides which regions, and which of their pages, are to be read.
 */
#include "config.h"
#include "image/memory/chunk_plan.hpp"

#include "common/invariant.hpp"
#include "image/model/shared_data.hpp"

#include <algorithm>

namespace ckpt
{

namespace
{

bool is_file_kind(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_FILE ||
           region.kind == CKPT_REGION_FILE_SHARED;
}

bool is_hole(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_FILE_CONTENT && region.protection == 0;
}

/* Whether the region maps a file. Its pages beyond the end of the file cannot be
 * read. */
bool may_end_early(const ckpt_region &region)
{
    return is_file_kind(region) ||
           (region.kind == CKPT_REGION_SHARED && region.inode != 0);
}

bool is_in(PlanPart part, const ckpt_region &region)
{
    return part == PlanPart::all || (part == PlanPart::own) == may_be_packed(region);
}

bool has_written_page(const RemoteMemory &memory, const ckpt_region &region)
{
    if (region.kind == CKPT_REGION_FILE_SHARED) {
        return false; /* the mapping is read-only */
    }
    std::vector<ckpt_range> written;
    memory.scan({region.start, region.end}, PageSelection::written, written);
    return !written.empty();
}

/* Returns the parts of a region that must be read. */
std::vector<ckpt_range> runs_of(const RemoteMemory &memory, const ckpt_region &region,
                                const PageRanges &excluded, SharedData &shared)
{
    std::vector<ckpt_range> runs;
    if (may_be_packed(region)) {
        memory.scan({region.start, region.end}, PageSelection::data, runs);
        runs = subtract(runs, excluded);
    } else if (region.kind == CKPT_REGION_SHARED) {
        runs = shared.of(region);
    } else if (!is_hole(region)) {
        /* The page map of one process does not show which pages of a shared file
         * have data. */
        runs.push_back({region.start, region.end});
    }
    return runs;
}

/* Adds one job for each chunk that overlaps any of the runs. */
void add_jobs(ChunkPlan &plan, std::uint32_t index, const ckpt_region &region,
              const std::vector<ckpt_range> &runs, std::uint64_t chunk_size)
{
    std::uint64_t size = region_chunk_size(region, chunk_size);
    CKPT_EXPECT(size > 0 && size <= UINT32_MAX);
    std::size_t base = plan.runs.size();
    plan.runs.insert(plan.runs.end(), runs.begin(), runs.end());

    std::uint64_t chunk = 0;
    std::size_t first = 0; /* the first run that is not fully covered yet */
    while (first < runs.size()) {
        chunk = std::max(chunk, (runs[first].start - region.start) / size);
        std::uint64_t start = region.start + chunk * size;
        std::uint64_t end = start + size;
        CKPT_INVARIANT(start < region.end);
        std::size_t last = first;
        while (last < runs.size() && runs[last].start < end) {
            last++;
        }
        plan.jobs.push_back({start, chunk, index,
                             static_cast<std::uint32_t>(size), base + first,
                             last - first, may_end_early(region)});
        while (first < last && runs[first].end <= end) {
            first++;
        }
        chunk++;
    }
}

/* Adds runs of one kind, given as ranges within the regions. No range crosses the
 * end of a region. */
void add_page_runs(std::vector<PageRun> &runs, const RankImage &image,
                   const PageRanges &ranges, PageRun::Kind kind)
{
    auto region = image.regions.begin();
    for (const ckpt_range &range : ranges) {
        for (std::uint64_t start = range.start; start < range.end;) {
            while (region->end <= start) {
                ++region;
                CKPT_INVARIANT(region != image.regions.end());
            }
            CKPT_INVARIANT(region->start <= start);
            std::uint64_t end = std::min(range.end, region->end);
            runs.push_back({start, end, 0, kind, 0});
            start = end;
        }
    }
}

/* Assigns positions to the data runs, and adds a job for each chunk of packed
 * pages. */
void add_packed_jobs(ChunkPlan &plan, std::uint64_t chunk_size)
{
    for (PageRun &run : plan.page_runs) {
        if (run.kind == PageRun::data) {
            run.position = plan.page_bytes;
            plan.page_bytes += run.end - run.start;
        }
    }
    std::uint64_t size = stream_chunk_size(plan.page_bytes, chunk_size);
    std::uint64_t position = 0;
    for (const PageRun &run : plan.page_runs) {
        for (std::uint64_t at = run.start; run.kind == PageRun::data && at < run.end;) {
            if (position % size == 0) {
                plan.jobs.push_back({at, position / size, 0,
                                     static_cast<std::uint32_t>(size), plan.runs.size(),
                                     0, false, true});
            }
            std::uint64_t part = std::min(run.end - at, size - position % size);
            plan.runs.push_back({at, at + part});
            plan.jobs.back().run_count++;
            at += part;
            position += part;
        }
    }
    CKPT_INVARIANT(position == plan.page_bytes);
}

/* changes: null if all pages are to be read. */
void plan_packed(ChunkPlan &plan, const RemoteMemory &memory, const RankImage &image,
                 std::uint64_t chunk_size, ChangeTracker *changes)
{
    const PageRanges data = data_of_packable(memory, image);
    const PageRanges wanted = changes != nullptr ? changes->changed(memory, data) : data;
    add_page_runs(plan.page_runs, image, wanted, PageRun::data);
    add_page_runs(plan.page_runs, image, subtract(data, wanted), PageRun::inherited);
    std::ranges::sort(plan.page_runs, {}, &PageRun::start);
    add_packed_jobs(plan, chunk_size);
    CKPT_INVARIANT(plan.page_bytes == length_of(wanted));
}

} // namespace

PageRanges data_of_packable(const RemoteMemory &memory, const RankImage &image)
{
    PageRanges data;
    for (const ckpt_region &region : image.regions) {
        if (may_be_packed(region)) {
            memory.scan({region.start, region.end}, PageSelection::data, data);
        }
    }
    return subtract(data, excluded_pages(image));
}

ChunkPlan plan_chunks(const RemoteMemory &memory, const RankImage &image, pid_t pid,
                      std::uint64_t chunk_size, PlanPart part, ChangeTracker *changes)
{
    ChunkPlan plan;
    const PageRanges excluded = excluded_pages(image);
    SharedData shared(image, pid);
    if (image.is_packed && part != PlanPart::common) {
        plan_packed(plan, memory, image, chunk_size, changes);
    }
    for (std::uint32_t i = 0; i < image.regions.size(); i++) {
        const ckpt_region &region = image.regions[i];
        if (!is_in(part, region) || (image.is_packed && may_be_packed(region))) {
            continue;
        }
        if (is_file_kind(region) && !has_written_page(memory, region) &&
            leads_to_mapped_file(region, image.text(region.path))) {
            plan.by_reference.push_back(i);
        } else if (region.kind != CKPT_REGION_SHARED_ELSEWHERE) {
            add_jobs(plan, i, region, runs_of(memory, region, excluded, shared), chunk_size);
        }
    }
    return plan;
}

ChunkPlan plan_image(const RankImage &image, std::uint64_t chunk_size, bool is_packed)
{
    ChunkPlan plan;
    PageRanges packed;
    for (std::uint32_t i = 0; i < image.regions.size(); i++) {
        const ckpt_region &region = image.regions[i];
        if (region.kind == CKPT_REGION_SHARED_ELSEWHERE || image.reference(i) != nullptr) {
            continue;
        }
        const PageRanges content = content_of(image, i, chunk_size);
        if (!is_packed || !may_be_packed(region)) {
            add_jobs(plan, i, region, content, chunk_size);
            continue;
        }
        for (const ckpt_range &range : content) {
            append_range(packed, range);
        }
    }
    add_page_runs(plan.page_runs, image, packed, PageRun::data);
    add_packed_jobs(plan, chunk_size);
    return plan;
}

} // namespace ckpt
