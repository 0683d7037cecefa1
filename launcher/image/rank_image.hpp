/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_image.hpp - what an image knows about one process, apart from its
 * memory's content. Writer and reader check it with the same rules.
 */
#pragma once

#include "image/codec.hpp"
#include "image/file_identity.hpp"
#include "image/page_ranges.hpp"

#include "ckpt/snapshot.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* One chunk of a region's content, as the rank's `chunks` dataset lists it. */
struct ChunkRecord {
    std::uint64_t index;    /* bytes from the region's start / chunk size */
    std::uint64_t offset;   /* of the stored bytes in the file */
    std::uint64_t checksum; /* XXH3-64 of the stored bytes */
    std::uint32_t region;   /* index in the rank's regions */
    std::uint32_t size;     /* stored bytes */
    ChunkCoding coding;     /* u32 */
    std::uint32_t reserved; /* 0 */
};

/* The messages that crossed the cut, as the `message_log` dataset has them. */
struct MessageLog {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;         /* with their headers (message_log.hpp) */
    std::vector<ChunkRecord> chunks; /* by index; region 0 */
};

/* What is in the pages of a range, in an image of what has changed, or of very many
 * regions. Of its regions that may_be_packed(), pages in no run are zero. */
struct PageRun {
    enum Kind : std::uint32_t {
        data = 1,      /* in the image's pages, at `position` */
        inherited = 2, /* at the same address in the base */
    };
    std::uint64_t start; /* as in ckpt_range; page-aligned, in one region */
    std::uint64_t end;
    std::uint64_t position; /* bytes; inherited: 0 */
    std::uint32_t kind;
    std::uint32_t reserved; /* 0 */
};

/* Pages whose content is stored with those of another rank of the file, or with others of
 * this one. Where they are stored themselves there are zeros. */
struct SharedRun {
    std::uint64_t start; /* as in ckpt_range; page-aligned */
    std::uint64_t end;
    std::uint64_t there; /* address of the first page that has the content */
    std::uint32_t rank;  /* whose */
    std::uint32_t reserved; /* 0 */
};

/* Pages of data runs, one behind the other, as the `pages` dataset has them. */
struct PageStream {
    std::uint64_t bytes = 0;
    std::vector<ChunkRecord> chunks; /* by index; region 0 */
};

struct RankImage {
    ckpt_snapshot snapshot = {};
    std::vector<ckpt_region> regions; /* by rising address */
    std::vector<ckpt_thread> threads;
    std::vector<ckpt_file> files;
    std::vector<char> strings;
    std::string summary; /* JSON */
    std::vector<FileReference> references; /* by rising region */
    std::vector<ChunkRecord> chunks;       /* by region, then index */
    bool is_packed = false;                /* has what follows */
    std::vector<PageRun> page_runs;        /* by rising address */
    PageStream pages;
    std::vector<SharedRun> shared_runs; /* by rising address */
    MessageLog message_log;

    const char *text(ckpt_string_t string) const { return &strings[string]; }
    std::uint64_t length(std::size_t region) const
    {
        return regions[region].end - regions[region].start;
    }
    /* Null if the content of the region is in the image. */
    const FileReference *reference(std::size_t region) const;
};

/* Pages of private memory that the program does not want to be saved. Throws Error if
 * the snapshot does not say it as it should. */
PageRanges excluded_pages(const RankImage &image);

/* Private memory, of which an image may have page runs instead of chunks. */
bool may_be_packed(const ckpt_region &region);

/* Whether so many regions may_be_packed() that a dataset for each would take too long. */
bool has_many_regions(const RankImage &image);

/* Largest counts that are believed; a real process is far below. */
inline constexpr std::uint32_t most_regions = 4u << 20;
inline constexpr std::uint32_t most_threads = 1u << 20;
inline constexpr std::uint32_t most_files = 4u << 20;
inline constexpr std::uint64_t most_text = 256u << 20; /* bytes */

/*
 * Throw Error, its text beginning with `whose`, on a snapshot of another
 * version or with impossible counts; on regions out of order, overlapping or
 * of unknown kind, strings outside the table, addresses outside saved memory.
 */
void require_sane_snapshot(const ckpt_snapshot &snapshot,
                           const std::string &whose);
void require_sane_image(const RankImage &image, const std::string &whose);

/* Bytes of one chunk of a region: `chunk_size`, or the region if smaller. */
std::uint64_t region_chunk_size(const ckpt_region &region,
                                std::uint64_t chunk_size);

/* The addresses that a chunk of a region has; of an image these rise with its chunks. */
ckpt_range range_of_chunk(const RankImage &image, const ChunkRecord &chunk,
                          std::uint64_t chunk_size);

/* The image's page runs that reach into a range, and perhaps beyond its ends. */
std::span<const PageRun> runs_in(const RankImage &image, const ckpt_range &range);

/* Likewise, its shared runs. */
std::span<const SharedRun> shared_runs_in(const RankImage &image, const ckpt_range &range);

/* The pages of the image that are stored elsewhere. */
PageRanges shared_ranges(const RankImage &image);

/* Where a region has content, or something under the image has; in whole chunks and
 * runs. */
PageRanges content_of(const RankImage &image, std::uint32_t region,
                      std::uint64_t chunk_size);

/* The file in which chunks are. */
struct ChunkFile {
    std::uint64_t bytes;    /* of all of it */
    std::uint64_t overhead; /* bytes that each stored chunk has because it is sealed */
};

/* Whether a chunk of something that has `length` bytes (not 0), in chunks of
 * `chunk_size`, can be in a file. */
bool is_sane_chunk(const ChunkRecord &chunk, std::uint64_t length,
                   std::uint64_t chunk_size, const ChunkFile &file);

/* Bytes of one chunk of a message log, or of pages, of `bytes`. */
std::uint64_t stream_chunk_size(std::uint64_t bytes, std::uint64_t chunk_size);

/* What each region takes in the file, in bytes. Of a chunk of packed pages a region is given
 * the part that its pages have of the chunk; together they are given all. */
std::vector<std::uint64_t> stored_bytes(const RankImage &image, std::uint64_t chunk_size);

} // namespace ckpt
