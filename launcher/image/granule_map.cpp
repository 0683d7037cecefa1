/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * granule_map.cpp - the chunks of a plan cut into granules.
 */
#include "config.h"
#include "image/granule_map.hpp"

#include <algorithm>

namespace ckpt
{

GranuleMap::GranuleMap(const ChunkPlan &plan, std::size_t size) : plan_(plan), size_(size)
{
    Index count = 0;
    for (const ChunkJob &job : plan_.jobs) {
        first_.push_back(count);
        count += (job.size + size_ - 1) / size_;
    }
    first_.push_back(count);
}

std::size_t GranuleMap::number(const ChunkJob &job) const
{
    return static_cast<std::size_t>(&job - plan_.jobs.data());
}

std::size_t GranuleMap::number(Index granule) const
{
    auto next = std::ranges::upper_bound(first_, granule);
    return static_cast<std::size_t>(next - first_.begin()) - 1;
}

const ChunkJob &GranuleMap::job(Index granule) const
{
    return plan_.jobs[number(granule)];
}

std::pair<GranuleMap::Index, GranuleMap::Index> GranuleMap::of(const ChunkJob &job) const
{
    return {first_[number(job)], first_[number(job) + 1]};
}

std::span<const ckpt_range> GranuleMap::runs(const ChunkJob &job) const
{
    return std::span(plan_.runs).subspan(job.first_run, job.run_count);
}

std::span<const ckpt_range> GranuleMap::runs(Index granule) const
{
    return runs(job(granule));
}

std::size_t GranuleMap::offset(Index granule) const
{
    return (granule - of(job(granule)).first) * size_;
}

std::uint64_t GranuleMap::start(Index granule) const
{
    return job(granule).address + offset(granule);
}

ckpt_range GranuleMap::content(const ChunkJob &job) const
{
    return {std::max(job.address, runs(job).front().start),
            std::min(job.address + job.size, runs(job).back().end)};
}

ckpt_range GranuleMap::content(Index granule) const
{
    ckpt_range whole = content(job(granule));
    return {std::max(whole.start, start(granule)),
            std::min(whole.end, start(granule) + size_)};
}

bool GranuleMap::has_wanted(Index granule, const ckpt_range &range) const
{
    ckpt_range own = content(granule);
    std::uint64_t start = std::max(own.start, range.start);
    std::uint64_t end = std::min(own.end, range.end);
    return std::ranges::any_of(runs(granule), [start, end](const ckpt_range &run) {
        return std::max(run.start, start) < std::min(run.end, end);
    });
}

std::optional<GranuleMap::Index> GranuleMap::find(std::uint64_t page) const
{
    auto next = std::ranges::upper_bound(plan_.jobs, page, {}, &ChunkJob::address);
    if (next == plan_.jobs.begin()) {
        return std::nullopt;
    }
    const ChunkJob &job = *std::prev(next);
    ckpt_range whole = content(job);
    if (page < whole.start || page >= whole.end) {
        return std::nullopt;
    }
    return of(job).first + (page - job.address) / size_;
}

/* Granules of the jobs at the ends may lie beside the range. */
std::pair<GranuleMap::Index, GranuleMap::Index>
GranuleMap::within(const ckpt_range &range) const
{
    auto end_of = [](const ChunkJob &job) { return job.address + job.size; };
    auto from = std::ranges::upper_bound(plan_.jobs, range.start, {}, end_of);
    auto to = std::ranges::lower_bound(from, plan_.jobs.end(), range.end, {},
                                       &ChunkJob::address);
    Index first = first_[static_cast<std::size_t>(from - plan_.jobs.begin())];
    Index last = first_[static_cast<std::size_t>(to - plan_.jobs.begin())];
    while (first < last && content(first).end <= range.start) {
        first++;
    }
    while (first < last && content(last - 1).start >= range.end) {
        last--;
    }
    return {first, last};
}

} // namespace ckpt
