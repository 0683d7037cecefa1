/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * granule_map.cpp - divides the chunks of a plan into granules.
 */
#include "config.h"
#include "image/memory/granule_map.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt
{

GranuleMap::GranuleMap(const ChunkPlan &plan, std::size_t size)
    : plan_(plan), size_(size),
      is_packed_(!plan.jobs.empty() && plan.jobs.front().is_packed)
{
    Index count = 0;
    for (const ChunkJob &job : plan_.jobs) {
        first_.push_back(count);
        count += (job.size + size_ - 1) / size_;
    }
    first_.push_back(count);
    for (const ChunkJob &job : plan_.jobs) {
        for (std::uint64_t offset = 0; const ckpt_range &run : runs(job)) {
            offsets_.push_back(offset);
            offset += run.end - run.start;
        }
    }
    CKPT_EXPECT(size_ > 0);
    CKPT_INVARIANT(first_.size() == plan_.jobs.size() + 1);
    CKPT_INVARIANT(!is_packed_ || offsets_.size() == plan_.runs.size());
}

std::size_t GranuleMap::number(const ChunkJob &job) const
{
    CKPT_EXPECT(&job >= plan_.jobs.data() && &job < plan_.jobs.data() + plan_.jobs.size());
    return static_cast<std::size_t>(&job - plan_.jobs.data());
}

std::size_t GranuleMap::number(Index granule) const
{
    CKPT_EXPECT(granule < count());
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

std::size_t GranuleMap::offset(Index granule) const
{
    return (granule - of(job(granule)).first) * size_;
}

std::uint64_t GranuleMap::start(Index granule) const
{
    if (!is_packed_) {
        return job(granule).address + offset(granule);
    }
    const PageRanges pages = content(granule, granule + 1);
    return pages.empty() ? job(granule).address : pages.front().start;
}

/* For a chunk that is not packed: from its first to its last page that the plan
 * wants. */
ckpt_range GranuleMap::extent(const ChunkJob &job) const
{
    CKPT_EXPECT(job.run_count > 0);
    return {std::max(job.address, runs(job).front().start),
            std::min(job.address + job.size, runs(job).back().end)};
}

/* Returns the pages at the offsets [from, to) in a packed chunk. */
PageRanges GranuleMap::packed_pages(const ChunkJob &job, std::uint64_t from,
                                    std::uint64_t to) const
{
    PageRanges pages;
    for (std::size_t i = job.first_run; i < job.first_run + job.run_count; i++) {
        const auto &[start, end] = plan_.runs[i];
        const std::uint64_t first = std::max(from, offsets_[i]);
        const std::uint64_t last = std::min(to, offsets_[i] + (end - start));
        if (first < last) {
            append_range(pages, {start + (first - offsets_[i]), start + (last - offsets_[i])});
        }
    }
    return pages;
}

PageRanges GranuleMap::content(Index first, Index end) const
{
    CKPT_EXPECT(first < end && end <= count());
    const ChunkJob &chunk = job(first);
    const std::uint64_t from = offset(first), to = from + (end - first) * size_;
    if (is_packed_) {
        return packed_pages(chunk, from, to);
    }
    const ckpt_range whole = extent(chunk);
    PageRanges pages;
    append_range(pages, {std::max(whole.start, chunk.address + from),
                         std::min(whole.end, chunk.address + to)});
    return pages;
}

PageRanges GranuleMap::content(const ChunkJob &job) const
{
    const auto [first, end] = of(job);
    return content(first, end);
}

bool GranuleMap::has_wanted(Index granule, const ckpt_range &range) const
{
    const PageRanges own = intersect(content(granule, granule + 1), {range});
    const std::span wanted = runs(job(granule));
    return !intersect(own, {wanted.begin(), wanted.end()}).empty();
}

void GranuleMap::read(const RemoteMemory &memory, Index first,
                      std::span<std::byte> part) const
{
    const ChunkJob &chunk = job(first);
    CKPT_EXPECT(offset(first) + part.size() <= chunk.size);
    if (!is_packed_) {
        memory.read_runs(start(first), runs(chunk), part);
        return;
    }
    const std::uint64_t from = offset(first);
    const PageRanges pages = packed_pages(chunk, from, from + part.size());
    const std::uint64_t length = length_of(pages);
    memory.read_packed(pages, part.first(length));
    std::ranges::fill(part.subspan(length), std::byte{0});
}

/* Returns the granule of an address in that run. */
GranuleMap::Index GranuleMap::packed_granule(std::size_t run, std::uint64_t address) const
{
    CKPT_EXPECT(run < offsets_.size() && address >= plan_.runs[run].start);
    auto next = std::ranges::upper_bound(plan_.jobs, run, {}, &ChunkJob::first_run);
    const auto chunk = static_cast<std::size_t>(next - plan_.jobs.begin()) - 1;
    return first_[chunk] + (offsets_[run] + (address - plan_.runs[run].start)) / size_;
}

std::optional<GranuleMap::Index> GranuleMap::find(std::uint64_t page) const
{
    if (is_packed_) {
        const auto [first, end] = packed_within({page, page + 1});
        return first < end ? std::optional(first) : std::nullopt;
    }
    auto next = std::ranges::upper_bound(plan_.jobs, page, {}, &ChunkJob::address);
    if (next == plan_.jobs.begin()) {
        return std::nullopt;
    }
    const ChunkJob &job = *std::prev(next);
    ckpt_range whole = extent(job);
    if (page < whole.start || page >= whole.end) {
        return std::nullopt;
    }
    return of(job).first + (page - job.address) / size_;
}

std::pair<GranuleMap::Index, GranuleMap::Index>
GranuleMap::packed_within(const ckpt_range &range) const
{
    const auto &runs = plan_.runs;
    auto from = std::ranges::upper_bound(runs, range.start, {}, &ckpt_range::end);
    auto to = std::ranges::lower_bound(from, runs.end(), range.end, {}, &ckpt_range::start);
    if (from == to) {
        return {0, 0};
    }
    const auto first = static_cast<std::size_t>(from - runs.begin());
    const auto last = static_cast<std::size_t>(to - runs.begin()) - 1;
    return {packed_granule(first, std::max(range.start, runs[first].start)),
            packed_granule(last, std::min(range.end, runs[last].end) - 1) + 1};
}

/* The first and last granules of a job may lie outside the range. */
std::pair<GranuleMap::Index, GranuleMap::Index>
GranuleMap::within(const ckpt_range &range) const
{
    if (is_packed_) {
        return packed_within(range);
    }
    auto end_of = [](const ChunkJob &job) { return job.address + job.size; };
    auto from = std::ranges::upper_bound(plan_.jobs, range.start, {}, end_of);
    auto to = std::ranges::lower_bound(from, plan_.jobs.end(), range.end, {},
                                       &ChunkJob::address);
    Index first = first_[static_cast<std::size_t>(from - plan_.jobs.begin())];
    Index last = first_[static_cast<std::size_t>(to - plan_.jobs.begin())];
    CKPT_INVARIANT(first <= last && last <= count());
    auto is_beside = [&](Index granule) {
        return intersect(content(granule, granule + 1), {range}).empty();
    };
    while (first < last && is_beside(first)) {
        first++;
    }
    while (first < last && is_beside(last - 1)) {
        last--;
    }
    return {first, last};
}

} // namespace ckpt
