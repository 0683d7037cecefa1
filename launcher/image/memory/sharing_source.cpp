/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sharing_source.cpp - memory of a rank without the pages that are stored already.
 */
#include "config.h"
#include "image/memory/sharing_source.hpp"

#include "common/bytes.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::size_t page_size = 4096;

/* Whether `next` continues `run`, both in the rank and in the place that it refers
 * to. */
bool is_continued(const SharedRun &run, const SharedRun &next)
{
    return run.end == next.start && run.rank == next.rank &&
           run.there + (run.end - run.start) == next.there;
}

} // namespace

void SharingSource::read(const ChunkPlan &plan, const ChunkJob &job,
                         std::span<std::byte> chunk)
{
    source_.read(plan, job, chunk);
    if (!job.is_packed) {
        if (may_be_packed(regions_[job.region])) {
            const std::uint64_t length = regions_[job.region].end - job.address;
            share(job.address, chunk.first(std::min<std::uint64_t>(length, chunk.size())));
        }
        return;
    }
    std::size_t position = 0;
    for (const ckpt_range &run :
         std::span(plan.runs).subspan(job.first_run, job.run_count)) {
        share(run.start, chunk.subspan(position, run.end - run.start));
        position += run.end - run.start;
    }
}

void SharingSource::share(std::uint64_t address, std::span<std::byte> pages)
{
    CKPT_EXPECT(address % page_size == 0 && pages.size() % page_size == 0);
    std::vector<SharedRun> found;
    for (std::size_t at = 0; at < pages.size(); at += page_size) {
        const std::span page = pages.subspan(at, page_size);
        if (is_all_zero(page)) {
            continue;
        }
        const std::uint64_t here = address + at;
        if (auto place = sharing_.find(page, {here, rank_})) {
            found.push_back({here, here + page_size, place->address,
                             static_cast<std::uint32_t>(place->rank), 0});
            std::ranges::fill(page, std::byte{0});
        }
    }
    std::lock_guard lock(mutex_);
    shared_.insert(shared_.end(), found.begin(), found.end());
}

std::vector<SharedRun> SharingSource::take_shared()
{
    std::vector<SharedRun> runs;
    std::ranges::sort(shared_, {}, &SharedRun::start);
    for (const SharedRun &next : std::exchange(shared_, {})) {
        CKPT_INVARIANT(runs.empty() || runs.back().end <= next.start); /* each page once */
        if (!runs.empty() && is_continued(runs.back(), next)) {
            runs.back().end = next.end;
        } else {
            runs.push_back(next);
        }
    }
    return runs;
}

} // namespace ckpt
