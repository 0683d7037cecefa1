/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_image.hpp - the description of one process in an image, without the content of its
 * memory. The writer and the reader validate it with the same rules.
 */
#pragma once

#include "image/codec/codec.hpp"
#include "image/model/file_identity.hpp"
#include "image/model/page_ranges.hpp"

#include "ckpt/snapshot.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* One chunk of a region's content, as listed in the rank's `chunks` dataset. */
struct ChunkRecord {
    std::uint64_t index;    /* offset in the region / chunk size */
    std::uint64_t offset;   /* of the stored bytes in the file */
    std::uint64_t checksum; /* XXH3-64 of the stored bytes */
    std::uint32_t region;   /* index in the rank's regions */
    std::uint32_t size;     /* stored bytes */
    ChunkCoding coding;     /* stored as u32 */
    std::uint32_t reserved; /* always 0 */
};

/* The messages that crossed the cut, in the form of the `message_log` dataset. */
struct MessageLog {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;         /* including headers (message_log.hpp) */
    std::vector<ChunkRecord> chunks; /* by index; their region is 0 */
};

/* Where the pages of a range are, in a packed image: an incremental one, or one with very
 * many regions. In regions for which may_be_packed() holds, pages in no run are zero. */
struct PageRun {
    enum Kind : std::uint32_t {
        data = 1,      /* in the image's packed pages, at `position` */
        inherited = 2, /* in the base image, at the same address */
    };
    std::uint64_t start; /* as in ckpt_range; page-aligned, within one region */
    std::uint64_t end;
    std::uint64_t position; /* in bytes; inherited: 0 */
    std::uint32_t kind;
    std::uint32_t reserved; /* always 0 */
};

/* Pages whose content is stored with other pages, of this rank or another rank of the file.
 * Their own place in the chunks has zeros. */
struct SharedRun {
    std::uint64_t start; /* start and end as in ckpt_range; page-aligned */
    std::uint64_t end;
    std::uint64_t there;    /* address of the first page that has the content */
    std::uint32_t rank;     /* rank of that page */
    std::uint32_t reserved; /* always 0 */
};

/* The pages of data runs, in sequence, in the form of the `pages` dataset. */
struct PageStream {
    std::uint64_t bytes = 0;
    std::vector<ChunkRecord> chunks; /* by index; their region is 0 */
};

struct RankImage {
    ckpt_snapshot snapshot = {};
    std::vector<ckpt_region> regions; /* by ascending address */
    std::vector<ckpt_thread> threads;
    std::vector<ckpt_file> files;
    std::vector<char> strings;
    std::string summary;                   /* JSON */
    std::vector<FileReference> references; /* by ascending region */
    std::vector<ChunkRecord> chunks;       /* by region, then index */
    bool is_packed = false;                /* has page_runs and pages */
    std::vector<PageRun> page_runs;        /* by ascending address */
    PageStream pages;
    std::vector<SharedRun> shared_runs; /* by ascending address */
    MessageLog message_log;

    const char *text(ckpt_string_t string) const { return &strings[string]; }
    std::uint64_t length(std::size_t region) const
    {
        return regions[region].end - regions[region].start;
    }
    /* Returns null if the content of the region is in the image. */
    const FileReference *reference(std::size_t region) const;
};

/* Returns the private pages that the program has excluded. Throws Error if the snapshot's
 * list is invalid. */
PageRanges excluded_pages(const RankImage &image);

/* Whether the region is private memory, which an image may store as page runs instead of
 * chunks. */
bool may_be_packed(const ckpt_region &region);

/* Whether may_be_packed() holds for so many regions that creating a dataset for each would
 * take too long. */
bool has_many_regions(const RankImage &image);

/* Upper limits for counts in a snapshot; real processes have far fewer. */
inline constexpr std::uint32_t most_regions = 4u << 20;
inline constexpr std::uint32_t most_threads = 1u << 20;
inline constexpr std::uint32_t most_files = 4u << 20;
inline constexpr std::uint64_t most_text = 256u << 20; /* bytes */

/*
 * Throw Error, its text beginning with `whose`: on a snapshot of another version or with
 * impossible counts; on regions that overlap, are out of order or of unknown kind; on
 * strings outside the table; on addresses outside saved memory.
 */
void require_sane_snapshot(const ckpt_snapshot &snapshot,
                           const std::string &whose);
void require_sane_image(const RankImage &image, const std::string &whose);

/* Returns the bytes of one chunk of a region: `chunk_size`, or the size of a smaller
 * region. */
std::uint64_t region_chunk_size(const ckpt_region &region,
                                std::uint64_t chunk_size);

/* Returns the addresses of a chunk of a region; they ascend with the image's chunks. */
ckpt_range range_of_chunk(const RankImage &image, const ChunkRecord &chunk,
                          std::uint64_t chunk_size);

/* Returns the image's page runs that overlap the range. */
std::span<const PageRun> runs_in(const RankImage &image, const ckpt_range &range);

/* Returns the image's shared runs that overlap the range. */
std::span<const SharedRun> shared_runs_in(const RankImage &image, const ckpt_range &range);

/* Returns the image's pages that are stored with other pages. */
PageRanges shared_ranges(const RankImage &image);

/* Returns the parts of a region for which the image, or one of its bases, has content; in
 * whole chunks and runs. */
PageRanges content_of(const RankImage &image, std::uint32_t region,
                      std::uint64_t chunk_size);

/* The file that contains the chunks. */
struct ChunkFile {
    std::uint64_t bytes;    /* size of the file */
    std::uint64_t overhead; /* bytes that encryption adds to each stored chunk */
};

/* Whether the record is valid for a dataset of `length` bytes (not 0) with chunks of
 * `chunk_size` bytes in that file. */
bool is_sane_chunk(const ChunkRecord &chunk, std::uint64_t length,
                   std::uint64_t chunk_size, const ChunkFile &file);

/* Returns the bytes of one chunk of a message log or of packed pages with a total of
 * `bytes`. */
std::uint64_t stream_chunk_size(std::uint64_t bytes, std::uint64_t chunk_size);

/* Returns the bytes that each region takes in the file. A chunk of packed pages counts for
 * its regions in proportion to their pages; the shares add up to the stored size. */
std::vector<std::uint64_t> stored_bytes(const RankImage &image, std::uint64_t chunk_size);

} // namespace ckpt
