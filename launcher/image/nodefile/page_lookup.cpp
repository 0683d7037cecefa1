/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_lookup.cpp - finds the content of pages in an image.
 */
#include "config.h"
#include "image/nodefile/page_lookup.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

/* Returns the range from the first to the last address. */
ckpt_range span_of(const PageRanges &ranges)
{
    CKPT_EXPECT(!ranges.empty());
    return {ranges.front().start, ranges.back().end};
}

/* Finds wanted pages in the chunks of regions. Both lists ascend, so each is traversed
 * once; chunks outside the wanted range are skipped. */
void find_in_regions(const RankImage &image, std::uint64_t chunk_size,
                     const PageRanges &wanted, std::vector<ChunkCopies> &found)
{
    auto next = wanted.begin();
    auto chunk = std::ranges::partition_point(image.chunks, [&](const ChunkRecord &record) {
        return range_of_chunk(image, record, chunk_size).end <= wanted.front().start;
    });
    for (; chunk != image.chunks.end(); ++chunk) {
        const auto [start, end] = range_of_chunk(image, *chunk, chunk_size);
        while (next != wanted.end() && next->end <= start) {
            ++next;
        }
        if (next == wanted.end()) {
            return;
        }
        ChunkCopies copies{&*chunk, {}};
        for (auto it = next; it != wanted.end() && it->start < end; ++it) {
            std::uint64_t from = std::max(it->start, start);
            copies.copies.push_back({from - start, std::min(it->end, end) - from, from});
        }
        if (!copies.copies.empty()) {
            found.push_back(std::move(copies));
        }
    }
}

/* Adds the parts of packed pages that chunks contain; pages outside of all chunks are
 * zero. */
class PageFinder
{
  public:
    PageFinder(const PageStream &pages, std::uint64_t chunk_size,
               std::vector<ChunkCopies> &found)
        : pages_(pages), size_(stream_chunk_size(pages.bytes, chunk_size)), found_(found)
    {
    }

    void add(std::uint64_t position, const ckpt_range &range)
    {
        CKPT_EXPECT(size_ > 0 && position + (range.end - range.start) <= pages_.bytes);
        for (std::uint64_t at = range.start; at < range.end;) {
            std::uint64_t offset = position % size_;
            std::uint64_t part = std::min(range.end - at, size_ - offset);
            if (const ChunkRecord *chunk = find(position / size_)) {
                if (found_.empty() || found_.back().chunk != chunk) {
                    found_.push_back({chunk, {}});
                }
                found_.back().copies.push_back({offset, part, at});
            }
            at += part;
            position += part;
        }
    }

  private:
    const ChunkRecord *find(std::uint64_t index) const
    {
        auto chunk =
            std::ranges::lower_bound(pages_.chunks, index, {}, &ChunkRecord::index);
        bool is_there = chunk != pages_.chunks.end() && chunk->index == index;
        return is_there ? &*chunk : nullptr;
    }

    const PageStream &pages_;
    const std::uint64_t size_;
    std::vector<ChunkCopies> &found_;
};

void find_in_pages(const RankImage &image, std::uint64_t chunk_size,
                   const PageRanges &wanted, std::vector<ChunkCopies> &found)
{
    PageFinder finder(image.pages, chunk_size, found);
    auto next = wanted.begin();
    for (const PageRun &run : runs_in(image, span_of(wanted))) {
        while (next != wanted.end() && next->end <= run.start) {
            ++next;
        }
        if (run.kind != PageRun::data) {
            continue;
        }
        for (auto it = next; it != wanted.end() && it->start < run.end; ++it) {
            std::uint64_t from = std::max(it->start, run.start);
            finder.add(run.position + (from - run.start),
                       {from, std::min(it->end, run.end)});
        }
    }
}

} // namespace

std::vector<ChunkCopies> find_pages(const RankImage &image, std::uint64_t chunk_size,
                                    const PageRanges &wanted)
{
    std::vector<ChunkCopies> found;
    if (wanted.empty()) {
        return found;
    }
    find_in_regions(image, chunk_size, wanted, found);
    if (image.is_packed) {
        find_in_pages(image, chunk_size, wanted, found);
    }
    return found;
}

PageRanges packable_regions(const RankImage &image)
{
    PageRanges ranges;
    for (const ckpt_region &region : image.regions) {
        if (may_be_packed(region)) {
            append_range(ranges, {region.start, region.end});
        }
    }
    return ranges;
}

PageRanges pages_of(const RankImage &image, PageRun::Kind kind, const PageRanges &wanted)
{
    PageRanges ranges;
    if (wanted.empty()) {
        return ranges;
    }
    for (const PageRun &run : runs_in(image, span_of(wanted))) {
        if (run.kind == kind) {
            append_range(ranges, {run.start, run.end});
        }
    }
    return intersect(ranges, wanted);
}

void require_sane_page_runs(const RankImage &image, std::uint64_t chunk_size,
                            const ChunkFile &file, const std::string &whose)
{
    std::uint64_t last_end = 0, position = 0;
    auto region = image.regions.begin();
    for (const PageRun &run : image.page_runs) {
        while (region != image.regions.end() && region->end <= run.start) {
            ++region;
        }
        bool is_data = run.kind == PageRun::data;
        bool sane = run.start >= last_end && run.start < run.end &&
                    run.start % page_size == 0 && run.end % page_size == 0 &&
                    (is_data || run.kind == PageRun::inherited) &&
                    run.position == (is_data ? position : 0) &&
                    region != image.regions.end() && run.start >= region->start &&
                    run.end <= region->end && may_be_packed(*region);
        if (!sane) {
            fail("{}: the pages at {:x} have an impossible record", whose, run.start);
        }
        last_end = run.end;
        position += is_data ? run.end - run.start : 0;
    }
    if (position != image.pages.bytes) {
        fail("{}: there are {} bytes of pages, not {}", whose, image.pages.bytes, position);
    }
    const ChunkRecord *last = nullptr;
    for (const ChunkRecord &chunk : image.pages.chunks) {
        if (chunk.region != 0 || image.pages.bytes == 0 ||
            (last != nullptr && last->index >= chunk.index) ||
            !is_sane_chunk(chunk, image.pages.bytes,
                           stream_chunk_size(image.pages.bytes, chunk_size), file)) {
            fail("{}: chunk {} of its pages has an impossible record", whose, chunk.index);
        }
        last = &chunk;
    }
}

void require_base(const RankImage &image, const RankImage &base, const std::string &whose)
{
    const PageRanges all = packable_regions(image);
    PageRanges there = base.is_packed ? unite(pages_of(base, PageRun::data, all),
                                              pages_of(base, PageRun::inherited, all))
                                      : packable_regions(base);
    PageRanges missing = subtract(pages_of(image, PageRun::inherited, all), there);
    if (!missing.empty()) {
        fail("{}: its base does not have the page at {:x}", whose, missing.front().start);
    }
}

} // namespace ckpt
