/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_plan.cpp - which regions, and which pages of them, are to be read.
 */
#include "config.h"
#include "image/chunk_plan.hpp"

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

/* Of a mapped file pages beyond its end cannot be read. */
bool may_end_early(const ckpt_region &region)
{
    return is_file_kind(region) ||
           (region.kind == CKPT_REGION_SHARED && region.inode != 0);
}

bool is_in(PlanPart part, const ckpt_region &region)
{
    bool is_common = is_file_kind(region) || region.kind == CKPT_REGION_SHARED ||
                     region.kind == CKPT_REGION_SHARED_ELSEWHERE;
    return part == PlanPart::all || (part == PlanPart::common) == is_common;
}

bool has_written_page(const RemoteMemory &memory, const ckpt_region &region)
{
    if (region.kind == CKPT_REGION_FILE_SHARED) {
        return false; /* it is read-only */
    }
    std::vector<ckpt_range> written;
    memory.scan({region.start, region.end}, PageSelection::written, written);
    return !written.empty();
}

/* The parts of a region that must be read. */
std::vector<ckpt_range> runs_of(const RemoteMemory &memory,
                                const ckpt_region &region)
{
    std::vector<ckpt_range> runs;
    if (region.kind == CKPT_REGION_ANONYMOUS ||
        region.kind == CKPT_REGION_STACK || region.kind == CKPT_REGION_HEAP) {
        memory.scan({region.start, region.end}, PageSelection::data, runs);
    } else {
        /* The page map of one process does not tell what is in memory that
         * others may have written, or in a file. */
        runs.push_back({region.start, region.end});
    }
    return runs;
}

/* Adds one job for each chunk that some run reaches into. */
void add_jobs(ChunkPlan &plan, std::uint32_t index, const ckpt_region &region,
              const std::vector<ckpt_range> &runs, std::uint64_t chunk_size)
{
    std::uint64_t size = region_chunk_size(region, chunk_size);
    std::size_t base = plan.runs.size();
    plan.runs.insert(plan.runs.end(), runs.begin(), runs.end());

    std::uint64_t chunk = 0;
    std::size_t first = 0; /* the first run that is not yet done with */
    while (first < runs.size()) {
        chunk = std::max(chunk, (runs[first].start - region.start) / size);
        std::uint64_t start = region.start + chunk * size;
        std::uint64_t end = start + size;
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

} // namespace

ChunkPlan plan_chunks(const RemoteMemory &memory, const RankImage &image,
                      std::uint64_t chunk_size, PlanPart part)
{
    ChunkPlan plan;
    for (std::uint32_t i = 0; i < image.regions.size(); i++) {
        const ckpt_region &region = image.regions[i];
        if (!is_in(part, region)) {
            continue;
        }
        if (is_file_kind(region) && !has_written_page(memory, region) &&
            leads_to_mapped_file(region, image.text(region.path))) {
            plan.by_reference.push_back(i);
        } else if (region.kind != CKPT_REGION_SHARED_ELSEWHERE) {
            add_jobs(plan, i, region, runs_of(memory, region), chunk_size);
        }
    }
    return plan;
}

} // namespace ckpt
