/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_image.cpp - the rules that a saved process must meet.
 */
#include "config.h"
#include "image/model/rank_image.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t end_of_user_memory = 1ull << 56;

/* Limit of private regions with a dataset each. HDF5 takes about 50 us to create a dataset,
 * and a chunk of one page compresses badly. */
constexpr std::ptrdiff_t most_datasets = 1024;

/* Returns the runs that overlap the range; `runs` ascend by address. */
template <typename Run>
std::span<const Run> overlapping(const std::vector<Run> &runs, const ckpt_range &range)
{
    auto first = std::ranges::upper_bound(runs, range.start, {}, &Run::end);
    auto last = std::ranges::lower_bound(first, runs.end(), range.end, {}, &Run::start);
    return {first, last};
}

template <typename Run>
PageRanges ranges_of(std::span<const Run> runs)
{
    PageRanges ranges;
    for (const Run &run : runs) {
        append_range(ranges, {run.start, run.end});
    }
    return ranges;
}

void require_string(const RankImage &image, ckpt_string_t string,
                    const std::string &whose, const char *what)
{
    if (string >= image.strings.size()) {
        fail("{}: the {} is string {}, but there are {} bytes of strings",
             whose, what, string, image.strings.size());
    }
}

/* Throws unless every byte of the range is in a region. */
void require_saved(const RankImage &image, std::uint64_t address,
                   std::uint64_t size, const std::string &whose,
                   const char *what)
{
    if (size == 0) {
        return;
    }
    std::uint64_t end = address + size;
    auto region = std::ranges::upper_bound(image.regions, address, {},
                                           &ckpt_region::start);
    bool covered = end >= address && region != image.regions.begin();
    if (covered) {
        --region;
        std::uint64_t reached = address < region->end ? address : 0;
        while (region != image.regions.end() && region->start <= reached &&
               reached < end) {
            reached = region->end;
            ++region;
        }
        covered = reached >= end;
    }
    if (!covered) {
        fail("{}: the {} at {:#x} ({} bytes) is not in saved memory", whose,
             what, address, size);
    }
}

void require_sane_regions(const RankImage &image, const std::string &whose)
{
    std::uint64_t last_end = 0;
    for (std::size_t i = 0; i < image.regions.size(); i++) {
        const ckpt_region &region = image.regions[i];
        if (region.start < last_end || region.end <= region.start ||
            region.end > end_of_user_memory ||
            (region.start | region.end) % page_size != 0) {
            fail("{}: region {} ({:#x}-{:#x}) is out of order or malformed",
                 whose, i, region.start, region.end);
        }
        if (region.kind < CKPT_REGION_ANONYMOUS ||
            region.kind > CKPT_REGION_FILE_CONTENT) {
            fail("{}: region {:#x} is of an unknown kind {}", whose,
                 region.start, region.kind);
        }
        require_string(image, region.path, whose, "path of a region");
        last_end = region.end;
    }
}

} // namespace

const FileReference *RankImage::reference(std::size_t region) const
{
    auto found = std::ranges::lower_bound(references, region, {},
                                          &FileReference::region);
    return found != references.end() && found->region == region ? &*found
                                                                : nullptr;
}

void require_sane_snapshot(const ckpt_snapshot &snapshot,
                           const std::string &whose)
{
    if (snapshot.magic != CKPT_SNAPSHOT_MAGIC) {
        fail("{}: not a snapshot (found {:#x})", whose, snapshot.magic);
    }
    if (snapshot.version < CKPT_SNAPSHOT_OLDEST || snapshot.version > CKPT_SNAPSHOT_VERSION) {
        fail("{}: the snapshot is of version {}, this program knows {}", whose,
             snapshot.version, CKPT_SNAPSHOT_VERSION);
    }
    if (snapshot.region_count > most_regions ||
        snapshot.thread_count > most_threads ||
        snapshot.file_count > most_files || snapshot.strings_size == 0 ||
        snapshot.strings_size > most_text ||
        snapshot.summary_size > most_text) {
        fail("{}: the snapshot has impossible counts ({} regions, {} threads, "
             "{} files, {} bytes of strings, {} of summary)",
             whose, snapshot.region_count, snapshot.thread_count,
             snapshot.file_count, snapshot.strings_size,
             snapshot.summary_size);
    }
    if (snapshot.rank < -1 || snapshot.rank_count < 0 ||
        (snapshot.rank >= 0 && snapshot.rank >= snapshot.rank_count)) {
        fail("{}: the snapshot says rank {} of {}", whose, snapshot.rank,
             snapshot.rank_count);
    }
}

void require_sane_image(const RankImage &image, const std::string &whose)
{
    const ckpt_snapshot &snapshot = image.snapshot;
    require_sane_snapshot(snapshot, whose);
    if (image.regions.size() != snapshot.region_count ||
        image.threads.size() != snapshot.thread_count ||
        image.files.size() != snapshot.file_count ||
        image.strings.size() != snapshot.strings_size) {
        fail("{}: the snapshot's counts are not those of its tables", whose);
    }
    if (image.strings.front() != '\0' || image.strings.back() != '\0') {
        fail("{}: the string table is malformed", whose);
    }
    require_sane_regions(image, whose);
    require_string(image, snapshot.working_directory, whose,
                   "working directory");
    require_string(image, snapshot.executable, whose, "executable");
    require_string(image, snapshot.excluded, whose, "list of excluded memory");
    require_saved(image, snapshot.resume_entry, 1, whose, "resume routine");
    require_saved(image, snapshot.layout.auxv, snapshot.layout.auxv_size, whose,
                  "auxiliary vector");
    for (const ckpt_thread &thread : image.threads) {
        require_saved(image, thread.context, 1, whose, "context of a thread");
        if (std::memchr(thread.name, '\0', sizeof(thread.name)) == nullptr) {
            fail("{}: the name of thread {} has no end", whose, thread.tid);
        }
    }
    for (const ckpt_file &file : image.files) {
        require_string(image, file.path, whose, "path of a file");
        if (file.payload_size > 0) {
            require_saved(image, file.payload, file.payload_size, whose,
                          "payload of a file");
        }
    }
}

PageRanges excluded_pages(const RankImage &image)
{
    PageRanges ranges;
    std::uint64_t last_end = 0;
    const char *next = image.text(image.snapshot.excluded);
    const char *end = next + std::strlen(next);
    while (next != end) {
        ckpt_range range = {};
        auto start = std::from_chars(next, end, range.start, 16);
        bool good = start.ec == std::errc() && start.ptr != end && *start.ptr == '-';
        auto stop = good ? std::from_chars(start.ptr + 1, end, range.end, 16) : start;
        good = good && stop.ec == std::errc() && (stop.ptr == end || *stop.ptr == ' ');
        if (!good || range.start < last_end || range.end <= range.start ||
            (range.start | range.end) % page_size != 0) {
            fail("excluded memory is not told as it should be: '{}'", next);
        }
        append_range(ranges, range);
        last_end = range.end;
        next = stop.ptr == end ? end : stop.ptr + 1;
    }
    return ranges;
}

bool may_be_packed(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_ANONYMOUS || region.kind == CKPT_REGION_STACK ||
           region.kind == CKPT_REGION_HEAP;
}

bool has_many_regions(const RankImage &image)
{
    return std::ranges::count_if(image.regions, may_be_packed) > most_datasets;
}

std::uint64_t region_chunk_size(const ckpt_region &region,
                                std::uint64_t chunk_size)
{
    CKPT_EXPECT(chunk_size > 0 && region.start < region.end);
    return std::min(chunk_size, region.end - region.start);
}

ckpt_range range_of_chunk(const RankImage &image, const ChunkRecord &chunk,
                          std::uint64_t chunk_size)
{
    CKPT_EXPECT(chunk.region < image.regions.size());
    const ckpt_region &region = image.regions[chunk.region];
    std::uint64_t size = region_chunk_size(region, chunk_size);
    std::uint64_t start = region.start + chunk.index * size;
    return {start, std::min(start + size, region.end)};
}

std::span<const PageRun> runs_in(const RankImage &image, const ckpt_range &range)
{
    return overlapping(image.page_runs, range);
}

std::span<const SharedRun> shared_runs_in(const RankImage &image, const ckpt_range &range)
{
    return overlapping(image.shared_runs, range);
}

PageRanges shared_ranges(const RankImage &image)
{
    return ranges_of(std::span<const SharedRun>(image.shared_runs));
}

PageRanges content_of(const RankImage &image, std::uint32_t region,
                      std::uint64_t chunk_size)
{
    PageRanges content;
    for (const ChunkRecord &chunk :
         std::ranges::equal_range(image.chunks, region, {}, &ChunkRecord::region)) {
        append_range(content, range_of_chunk(image, chunk, chunk_size));
    }
    const ckpt_region &whole = image.regions[region];
    for (const PageRun &run : runs_in(image, {whole.start, whole.end})) {
        append_range(content, {run.start, run.end});
    }
    return unite(content, ranges_of(shared_runs_in(image, {whole.start, whole.end})));
}

bool is_sane_chunk(const ChunkRecord &chunk, std::uint64_t length,
                   std::uint64_t chunk_size, const ChunkFile &file)
{
    CKPT_EXPECT(length > 0 && chunk_size > 0);
    const std::uint64_t size = chunk.size - std::min<std::uint64_t>(chunk.size, file.overhead);

    return chunk.index <= (length - 1) / chunk_size && size > 0 &&
           size <= chunk_size && chunk.coding <= ChunkCoding::lz4 &&
           (chunk.coding != ChunkCoding::plain || size == chunk_size) &&
           chunk.offset <= file.bytes &&
           chunk.size <= file.bytes - chunk.offset;
}

std::uint64_t stream_chunk_size(std::uint64_t bytes, std::uint64_t chunk_size)
{
    return std::min(chunk_size, bytes);
}

namespace
{

/* Divides the stored bytes of one chunk, which holds [start, end) of the packed pages. run:
 * a run at or before the chunk's first one; moved to the chunk's last one. */
void divide_chunk(const RankImage &image, std::uint64_t size, std::uint64_t start,
                  std::uint64_t end, std::vector<PageRun>::const_iterator &run,
                  std::vector<std::uint64_t> &stored)
{
    CKPT_EXPECT(start < end);
    std::uint64_t given = 0;
    while (run != image.page_runs.end()) {
        const std::uint64_t last = run->position + (run->end - run->start);
        if (run->kind == PageRun::data && last > start) {
            if (run->position >= end) {
                return;
            }
            const std::uint64_t share =
                size * (std::min(last, end) - start) / (end - start) - given;
            const auto region = std::ranges::upper_bound(image.regions, run->start, {},
                                                         &ckpt_region::end);
            stored.at(static_cast<std::size_t>(region - image.regions.begin())) += share;
            given += share;
            if (last >= end) {
                return;
            }
        }
        ++run;
    }
}

} // namespace

std::vector<std::uint64_t> stored_bytes(const RankImage &image, std::uint64_t chunk_size)
{
    std::vector<std::uint64_t> stored(image.regions.size(), 0);
    for (const ChunkRecord &chunk : image.chunks) {
        stored[chunk.region] += chunk.size;
    }
    const std::uint64_t length = stream_chunk_size(image.pages.bytes, chunk_size);
    auto run = image.page_runs.begin();
    for (const ChunkRecord &chunk : image.pages.chunks) {
        const std::uint64_t start = chunk.index * length;
        divide_chunk(image, chunk.size, start, std::min(start + length, image.pages.bytes), run,
                     stored);
    }
    return stored;
}

} // namespace ckpt
